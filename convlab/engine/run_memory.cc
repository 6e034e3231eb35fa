// Allocates the device memory of an engine's runs.

#include "convlab/engine/run_memory.h"

#include "convlab/engine/plan_facts.h"

namespace convlab {

void RunMemory::make_room(const Plan& plan, StageObserver* observer) {
  const Observed part(observer, {Stage::memory});
  grow(arena_, plan.arena_bytes);
  if (device_.caps().shares_host_memory()) return;
  inputs_.resize(plan.inputs.size());
  outputs_.resize(plan.outputs.size());
  for (size_t i = 0; i < inputs_.size(); ++i) grow(inputs_[i], bytes_of(plan.inputs[i], plan.options.input));
  for (size_t i = 0; i < outputs_.size(); ++i) grow(outputs_[i], bytes_of(plan.outputs[i], ElementType::f32));
}

void RunMemory::grow(Buffer& buffer, int64_t bytes) {
  if (static_cast<int64_t>(buffer.bytes()) >= bytes) return;
  ++moves_;
  buffer = {};  // free the old memory before allocating the new
  buffer = device_.allocate(static_cast<size_t>(bytes));
}

}  // namespace convlab
