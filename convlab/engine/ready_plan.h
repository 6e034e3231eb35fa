#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convlab/engine/device_constants.h"
#include "convlab/engine/run_memory.h"
#include "convlab/plan/plan.h"

namespace convlab {

/// A plan on a device, with steps ready to launch. Memory and constants must outlive it.
class ReadyPlan {
 public:
  using Inputs = std::span<const void* const>;
  using Outputs = std::span<void* const>;

  /// `full`: a plan whose prepared weights serve this one, too, and which outlives it; null: this one has its own,
  /// after prepare().
  ReadyPlan(Plan plan, DeviceConstants& constants, const RunMemory& memory, const ReadyPlan* full)
      : plan_(std::move(plan)), constants_(constants), memory_(memory), full_(full) {}

  const Plan& plan() const { return plan_; }

  /// Packs the weights of all steps for their kernels. Returns the seconds that this took.
  double prepare(Device& device, Stream& stream);

  /// Gives all steps to the stream, from the arrays at `inputs` to those at `outputs`, in memory of the device. Each
  /// is a part to the observer, which may be null. With `seconds`, it waits for the device before and after each step
  /// and adds the time to the step's.
  void launch(Stream& stream, Inputs inputs, Outputs outputs, StageObserver* observer, std::vector<double>* seconds);

  /// Of a plan with one of each.
  void launch(Stream& stream, const void* input, void* output, StageObserver* observer, std::vector<double>* seconds) {
    launch(stream, {&input, 1}, {&output, 1}, observer, seconds);
  }

 private:
  const void* address(const Location& location, Inputs inputs, Outputs outputs) const;
  void* prepared_for(size_t step) const {
    return full_ != nullptr ? full_->prepared_for(step)
                            : static_cast<std::byte*>(prepared_.data()) + prepared_at_[step];
  }
  SoonRead prepared_behind(size_t step) const;
  template <class OnConv, class OnOp>
  void visit(size_t step, Inputs inputs, Outputs outputs, OnConv on_conv, OnOp on_op);

  Plan plan_;
  DeviceConstants& constants_;
  const RunMemory& memory_;
  const ReadyPlan* full_;
  Buffer prepared_;  ///< of all steps, so that a CPU's lie on large pages; none where the full plan has them
  std::vector<int64_t> prepared_at_;     ///< by step, in bytes
  std::vector<const float*> addresses_;  ///< of the current step's inputs
  int64_t turn_ = 0;                     ///< launches of the plan so far
};

}  // namespace convlab
