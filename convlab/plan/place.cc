// The pass that places arrays and workspaces in the arena.

#include "convlab/plan/place.h"

#include "convlab/plan/arena.h"

namespace convlab {
namespace {

/// Returns the steps during which each array is in use; those of joint arrays include those of their parts.
std::vector<Lifetime> lifetimes_of(const Draft& draft) {
  std::vector<Lifetime> lifetimes(draft.arrays.size(), {.first = -1, .last = -1});
  const auto owner = [&](size_t array) -> Lifetime& { return lifetimes[draft.arrays[array].joint.value_or(array)]; };
  for (size_t i = 0; i < draft.steps.size(); ++i) {
    const auto now = static_cast<int64_t>(i);
    for (const size_t input : draft.steps[i].inputs) owner(input).last = now;
    Lifetime& written = owner(draft.steps[i].output);
    if (written.first < 0) written.first = now;
    written.last = now;
  }
  for (size_t i = 0; i < lifetimes.size(); ++i) lifetimes[i].bytes = draft.arrays[i].bytes;
  return lifetimes;
}

}  // namespace

void place(const Draft& draft, Plan& plan) {
  std::vector<Location> locations;
  for (const DraftArray& array : draft.arrays) locations.push_back({array.place, array.number});
  const std::vector<Lifetime> all = lifetimes_of(draft);
  std::vector<Lifetime> lifetimes;
  std::vector<int64_t*> offsets;
  for (size_t i = 0; i < draft.arrays.size(); ++i) {
    if (draft.arrays[i].place != Location::Place::arena || draft.arrays[i].joint) continue;
    lifetimes.push_back(all[i]);
    offsets.push_back(&locations[i].at);
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    PlanStep& step = plan.steps[i];
    if (step.workspace_bytes == 0) continue;
    const auto now = static_cast<int64_t>(i);
    lifetimes.push_back({static_cast<int64_t>(step.workspace_bytes), now, now});
    offsets.push_back(&step.workspace_at);
  }
  const Arena arena = pack_arena(lifetimes);
  for (size_t i = 0; i < offsets.size(); ++i) *offsets[i] = arena.at[i];
  plan.arena_bytes = arena.bytes;
  for (size_t i = 0; i < locations.size(); ++i) {
    const DraftArray& array = draft.arrays[i];
    if (array.joint) locations[i].at = locations[*array.joint].at + array.at;
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    for (const size_t input : draft.steps[i].inputs) plan.steps[i].inputs.push_back(locations[input]);
    plan.steps[i].output = locations[draft.steps[i].output];
  }
}

}  // namespace convlab
