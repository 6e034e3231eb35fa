// Finds which faults of a block follow from others.

#include "convlab/simt/causes.h"

#include <algorithm>

namespace convlab::simt::internal {
namespace {

bool is_divergence(const Fault& fault) {
  return fault.kind == FaultKind::divergent_barrier || fault.kind == FaultKind::divergent_warp;
}

// Returns whether the fault exists only because the threads of a block did not wait for each other.
bool is_of_missing_order(const Fault& fault) {
  return !fault.other_block && (fault.kind == FaultKind::race_shared || fault.kind == FaultKind::race_global ||
                                fault.kind == FaultKind::redundant_write);
}

// Returns whether a divergence explains another fault of its block. Threads that have exited before a barrier explain
// the races across it; threads that wait elsewhere, all races, and the elements that they have not written.
bool explains(const Fault& divergence, const Fault& fault) {
  const std::vector<Label>& sides = divergence.finding.labels;
  const bool has_exited = divergence.kind == FaultKind::divergent_barrier && sides.back().place.line == 0;
  if (!has_exited) return is_of_missing_order(fault) || fault.kind == FaultKind::uninitialized_shared;
  if (is_divergence(fault)) return true;
  if (!is_of_missing_order(fault)) return false;
  const int barrier = sides.front().place.line;
  const std::vector<Label>& labels = fault.finding.labels;
  return std::ranges::any_of(labels, [&](const Label& label) { return label.place.line < barrier; }) &&
         std::ranges::any_of(labels, [&](const Label& label) { return label.place.line > barrier; });
}

// Returns whether the help names the place of a barrier: the sides of the race are two lines of a file.
bool names_barrier(const Fault& fault) {
  const std::vector<Label>& sides = fault.finding.labels;
  return is_of_missing_order(fault) && sides.size() > 1 && sides[0].place.file == sides[1].place.file &&
         sides[0].place.line != sides[1].place.line;
}

// Returns whether the same missing barrier explains both: its reads and its writes are faults of their own.
bool have_same_barrier(const Fault& a, const Fault& b) {
  return names_barrier(a) && names_barrier(b) && a.array == b.array && a.finding.help == b.finding.help;
}

// Drops the races that an earlier one explains.
void keep_one_of_each_barrier(std::vector<Fault>& faults) {
  for (auto at = faults.begin(); at != faults.end();) {
    const bool is_known =
        std::any_of(faults.begin(), at, [&](const Fault& each) { return have_same_barrier(each, *at); });
    at = is_known ? faults.erase(at) : at + 1;
  }
}

// The threads that have exited may be those that would have loaded an element.
void link_exits(std::vector<Fault>& faults) {
  if (faults.empty() || faults.front().kind != FaultKind::divergent_barrier) return;
  for (Fault& each : faults) {
    if (each.kind != FaultKind::uninitialized_shared) continue;
    each.finding.help =
        "possibly the threads that load it return before the barrier: skip only their output; or a halo is not loaded";
  }
}

}  // namespace

void keep_causes(std::vector<Fault>& faults) {
  keep_one_of_each_barrier(faults);
  std::stable_partition(faults.begin(), faults.end(), is_divergence);
  if (faults.empty() || !is_divergence(faults.front())) return;
  const auto consequences = std::remove_if(faults.begin() + 1, faults.end(),
                                           [&](const Fault& each) { return explains(faults.front(), each); });
  faults.erase(consequences, faults.end());
  link_exits(faults);
}

}  // namespace convlab::simt::internal
