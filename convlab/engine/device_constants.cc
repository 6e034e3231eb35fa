// Keeps a graph's constants in memory that a device's kernels can read.

#include "convlab/engine/device_constants.h"

#include <utility>

#include "convlab/engine/plan_facts.h"
#include "convlab/engine/shared_weights.h"

namespace convlab {
namespace {

/// Calls visit(value, packed) for each constant that a step reads. `packed`: only prepare() reads it, launches do not.
template <class Visit>
void for_each_constant(const Plan& plan, Visit visit) {
  for (const PlanStep& step : plan.steps) {
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (step.inputs[i].place != Location::Place::constant) continue;
      visit(static_cast<ValueId>(step.inputs[i].at), i == PlanStep::kWeights && step.kernel->packs_weights);
    }
  }
}

}  // namespace

void DeviceConstants::place(const Plan& plan, SharedWeights& shared, StageObserver* observer) {
  if (device_.caps().shares_host_memory()) return;
  const Observed part(observer, {Stage::weights});
  for_each_constant(plan, [&](ValueId value, bool packed) {
    if (packed || copies_.contains(value)) return;
    copies_[value] = shared.in_memory_of(device_.caps().name, value, graph_.constants.at(value), [&] {
      Buffer made = copy(value);
      stream_.synchronize();  // another session's stream may read it
      return made;
    });
  });
}

DeviceConstants::Packing::Packing(DeviceConstants& constants, const Plan& plan) : constants_(constants) {
  if (constants.device_.caps().shares_host_memory()) return;
  for_each_constant(plan, [&](ValueId value, bool packed) {
    if (!packed || constants.copies_.contains(value) || constants.to_pack_.contains(value)) return;
    constants.to_pack_.emplace(value, constants.copy(value));
  });
  constants.stream_.synchronize();
}

Buffer DeviceConstants::copy(ValueId value) {
  const Tensor& tensor = graph_.constants.at(value);
  Buffer made = device_.allocate(tensor.bytes());
  stream_.upload(made.data(), tensor.raw(), tensor.bytes());
  return made;
}

const void* DeviceConstants::address(ValueId value) const {
  if (device_.caps().shares_host_memory()) return std::as_const(graph_).constants.at(value).raw();
  const auto found = copies_.find(value);
  return found != copies_.end() ? found->second->data() : to_pack_.at(value).data();
}

void DeviceConstants::expect(const Plan& plan, bool packs) {
  for_each_constant(plan, [&](ValueId value, bool packed) {
    if (packs || !packed) ++reads_[value];
  });
}

void DeviceConstants::note_packed(const PlanStep& step) {
  if (!step.kernel->packs_weights || !device_.caps().shares_host_memory()) return;
  const auto value = static_cast<ValueId>(step.inputs[PlanStep::kWeights].at);
  const auto reads = reads_.find(value);
  if (reads != reads_.end() && --reads->second == 0) graph_.constants.at(value).free_elements();
}

}  // namespace convlab
