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

/// A plan on a device whose steps are ready to launch. Memory and constants must outlive it.
class ReadyPlan {
 public:
  using Inputs = std::span<const void* const>;
  using Outputs = std::span<void* const>;

  ReadyPlan(Plan plan, DeviceConstants& constants, const RunMemory& memory)
      : plan_(std::make_shared<const Plan>(std::move(plan))), constants_(constants), memory_(memory) {}

  const Plan& plan() const { return *plan_; }

  /// Uses the packed weights that `shared` has for an equivalent plan. Otherwise packs the weights of all steps for
  /// their kernels and returns the seconds that this took. The observer may be null.
  std::optional<double> prepare(Device& device, Stream& stream, SharedWeights& shared, StageObserver* observer);

  /// Enqueues all steps in the stream. `inputs` and `outputs` are addresses in the device's memory. Notifies the
  /// observer, which may be null, of each step. With `seconds`, waits for the device before and after each step and
  /// adds the step's time to seconds[step].
  void launch(Stream& stream, Inputs inputs, Outputs outputs, StageObserver* observer, std::vector<double>* seconds);

 private:
  const void* address(const Location& location, Inputs inputs, Outputs outputs) const;
  PreparedWeights packed(Device& device, Stream& stream, double& seconds);
  PrefetchHint prefetch_after(size_t step, const PreparedWeights& weights) const;
  /// Calls the step's kernel's launch or prepare.
  void call(void (*function)(const Args&, Stream&), size_t step, Stream& stream, const PreparedWeights& weights,
            Inputs inputs, Outputs outputs);

  std::shared_ptr<const Plan> plan_;
  DeviceConstants& constants_;
  const RunMemory& memory_;
  std::shared_ptr<const PreparedWeights> prepared_;
  std::vector<const void*> addresses_;  ///< of the current step's inputs
  int64_t turn_ = 0;                    ///< launches of the plan so far
};

}  // namespace convlab
