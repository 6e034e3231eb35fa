#pragma once

#include <cstdint>
#include <vector>

#include "convlab/engine/device_constants.h"
#include "convlab/engine/run_memory.h"
#include "convlab/plan/plan.h"

namespace convlab {

/// A plan on a device, with steps ready to launch. Memory and constants must outlive it.
class ReadyPlan {
 public:
  /// `full`: a plan whose prepared weights serve this one, too, and which outlives it; null: this one has its own,
  /// after prepare().
  ReadyPlan(Plan plan, const DeviceConstants& constants, const RunMemory& memory, const ReadyPlan* full)
      : plan_(std::move(plan)), constants_(constants), memory_(memory), full_(full) {}

  const Plan& plan() const { return plan_; }

  /// Packs the weights of all steps for their kernels. Returns the seconds that this took.
  double prepare(Device& device, Stream& stream);

  /// Gives all steps to the stream, from the images at `input` to the scores at `output`, in memory of the device. Each
  /// is a part to the observer, which may be null. With `seconds`, it waits for the device before and after each step
  /// and adds the time to the step's.
  void launch(Stream& stream, const void* input, void* output, StageObserver* observer, std::vector<double>* seconds);

 private:
  const void* address(const Location& location, const void* input, const void* output) const;
  void* prepared_for(size_t step) const {
    return full_ != nullptr ? full_->prepared_for(step) : prepared_[step].data();
  }
  template <class OnConv, class OnOp>
  void visit(size_t step, const void* input, void* output, OnConv on_conv, OnOp on_op);

  Plan plan_;
  const DeviceConstants& constants_;
  const RunMemory& memory_;
  const ReadyPlan* full_;
  std::vector<Buffer> prepared_;         ///< by step; empty where the full plan has them
  std::vector<const float*> addresses_;  ///< of the current step's inputs
  int64_t turn_ = 0;                     ///< launches of the plan so far
};

}  // namespace convlab
