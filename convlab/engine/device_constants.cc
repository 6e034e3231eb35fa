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

}  // namespace convlab
