// Keeps the faults of host code.

#include "convlab/simt/host_faults.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "convlab/simt/checks.h"

namespace convlab::simt {
namespace {

struct State {
  std::mutex mutex;
  std::vector<Fault> faults;
};

State& state() {
  static State& one = *new State;  // never destroyed: static objects may still run host code at exit
  return one;
}

}  // namespace

void internal::keep_host_fault(Fault fault) {
  if (!is_reported(fault.kind)) return;
  std::lock_guard lock(state().mutex);
  std::vector<Fault>& faults = state().faults;
  const auto known = std::ranges::find_if(faults, [&](const Fault& each) {
    return same_cause(each.finding, fault.finding) && each.is_write == fault.is_write;
  });
  if (known != faults.end()) {
    ++known->times;
  } else if (faults.size() < FaultError::kMaxFaults) {
    faults.push_back(std::move(fault));
  }
}

std::vector<Fault> take_host_faults() {
  std::lock_guard lock(state().mutex);
  std::vector<Fault> faults = std::exchange(state().faults, {});
  for (Fault& fault : faults) fault.finding.count = fault.times;
  return faults;
}

void throw_host_faults() { internal::raise(take_host_faults()); }

}  // namespace convlab::simt
