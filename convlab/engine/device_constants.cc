#include "convlab/engine/device_constants.h"

#include <utility>

#include "convlab/engine/plan_facts.h"

namespace convlab {

void DeviceConstants::place(const Plan& plan, StageObserver* observer) {
  if (reads_host_memory(device_)) return;
  const Observed part(observer, {Stage::weights});
  for (const PlanStep& step : plan.steps) {
    for (const Location& input : step.inputs) {
      const auto value = static_cast<ValueId>(input.at);
      if (input.place != Location::Place::constant || copies_.contains(value)) continue;
      const Tensor& tensor = graph_.constants.at(value);
      Buffer copy = device_.allocate(tensor.bytes());
      stream_.upload(copy.data(), tensor.raw(), tensor.bytes());
      copies_.emplace(value, std::move(copy));
    }
  }
  stream_.synchronize();
}

const void* DeviceConstants::address(ValueId value) const {
  return reads_host_memory(device_) ? graph_.constants.at(value).raw() : copies_.at(value).data();
}

void DeviceConstants::expect(const Plan& plan, bool packs) {
  for (const PlanStep& step : plan.steps) {
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (step.inputs[i].place != Location::Place::constant) continue;
      if (packs || i != PlanStep::kWeights || !step.packs_weights()) ++reads_[static_cast<ValueId>(step.inputs[i].at)];
    }
  }
}

void DeviceConstants::note_packed(const PlanStep& step) {
  if (!step.packs_weights() || !reads_host_memory(device_)) return;
  const auto value = static_cast<ValueId>(step.inputs[PlanStep::kWeights].at);
  const auto reads = reads_.find(value);
  if (reads != reads_.end() && --reads->second == 0) graph_.constants.at(value).free_elements();
}

}  // namespace convlab
