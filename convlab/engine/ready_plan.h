#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "convlab/engine/device_constants.h"
#include "convlab/engine/run_memory.h"
#include "convlab/engine/shared_weights.h"
#include "convlab/plan/plan.h"

namespace convlab {

/// A plan on a device, with steps ready to launch. Memory and constants must outlive it.
class ReadyPlan {
 public:
  using Inputs = std::span<const void* const>;
  using Outputs = std::span<void* const>;

  ReadyPlan(Plan plan, DeviceConstants& constants, const RunMemory& memory)
      : plan_(std::make_shared<const Plan>(std::move(plan))), constants_(constants), memory_(memory) {}

  const Plan& plan() const { return *plan_; }

  /// Takes the weights that `shared` has for such a plan, or packs those of all steps for their kernels, and then
  /// returns the seconds that this took. The observer may be null.
  std::optional<double> prepare(Device& device, Stream& stream, SharedWeights& shared, StageObserver* observer);

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
  PreparedWeights packed(Device& device, Stream& stream, double& seconds);
  PrefetchHint prefetch_after(size_t step, const PreparedWeights& weights) const;
  template <class OnConv, class OnOp>
  void visit(size_t step, const PreparedWeights& weights, Inputs inputs, Outputs outputs, OnConv on_conv, OnOp on_op);

  std::shared_ptr<const Plan> plan_;
  DeviceConstants& constants_;
  const RunMemory& memory_;
  std::shared_ptr<const PreparedWeights> prepared_;
  std::vector<const float*> addresses_;  ///< of the current step's inputs
  int64_t turn_ = 0;                     ///< launches of the plan so far
};

}  // namespace convlab
