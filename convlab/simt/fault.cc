// Names the kinds of faults, and builds the error that a launch throws.

#include "convlab/simt/fault.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <utility>

namespace convlab::simt {
namespace {

struct Notes {
  std::mutex mutex;
  std::vector<Fault> all;  // warnings of all launches since the last take_notes()
};
Notes& notes() {
  static Notes& one = *new Notes;  // never destroyed: programs report them at exit
  return one;
}
std::atomic<void (*)(std::vector<Fault>)> receiver{nullptr};

// One mistake can cause several findings: a missing barrier may show as two races.
std::string first_message(const std::vector<Fault>& faults) {
  if (faults.empty()) return "";
  std::string message = message_of(faults[0].finding);
  if (const size_t others = faults.size() - 1; others > 0) {
    message += fmt::format("; {} more finding{}, possibly with the same cause", others, others == 1 ? "" : "s");
  }
  return message;
}

}  // namespace

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds_global:
      return "out of bounds of global memory";
    case FaultKind::out_of_bounds_shared:
      return "out of bounds of shared memory";
    case FaultKind::out_of_bounds_local:
      return "out of bounds of an array";
    case FaultKind::misaligned:
      return "misaligned address";
    case FaultKind::uninitialized_shared:
      return "uninitialized shared memory";
    case FaultKind::uninitialized_global:
      return "uninitialized global memory";
    case FaultKind::uninitialized_constant:
      return "uninitialized constant memory";
    case FaultKind::race_shared:
      return "race on shared memory";
    case FaultKind::race_global:
      return "race on global memory";
    case FaultKind::redundant_write:
      return "redundant write";
    case FaultKind::divergent_barrier:
    case FaultKind::missed_barrier:
      return "barrier not reached by all threads";
    case FaultKind::divergent_warp:
      return "warp operation not reached by all lanes";
    case FaultKind::inactive_lane:
    case FaultKind::absent_source:
      return "inactive lane";
    case FaultKind::stack_overflow:
      return "stack overflow";
    case FaultKind::division:
      return "integer division";
    case FaultKind::exception:
      return "exception";
    case FaultKind::processor:
      return "invalid instruction or address";
    case FaultKind::stuck:
      return "no progress";
    case FaultKind::trap:
      return "trap";
    case FaultKind::assertion:
      return "assertion failed";
    case FaultKind::host_memory:
      return "host memory in a kernel";
    case FaultKind::host_access:
      return "device memory in host code";
    case FaultKind::not_awaited:
      return "missing synchronization";
    case FaultKind::copy_direction:
      return "wrong direction of a copy";
    case FaultKind::no_polynomial:
      return "not a polynomial of the inputs";
    case FaultKind::nested_launch:
      return "launch in a kernel";
  }
  return "fault";
}

std::string to_text(Position p) { return fmt::format("({},{},{})", p.x, p.y, p.z); }

std::string where(const Fault& fault) { return short_text(place_of(fault.finding)); }

FaultError::FaultError(std::vector<Fault> faults)
    : Error(ErrorKind::wrong_result, first_message(faults)), faults_(std::move(faults)) {}

bool lets_kernel_go_on(FaultKind kind) {
  switch (kind) {
    case FaultKind::uninitialized_shared:
    case FaultKind::uninitialized_global:
    case FaultKind::uninitialized_constant:
    case FaultKind::race_shared:
    case FaultKind::race_global:
    case FaultKind::redundant_write:
    case FaultKind::missed_barrier:
    case FaultKind::absent_source:
      return true;
    default:
      return false;
  }
}

void set_fault_receiver(void (*receive)(std::vector<Fault> faults)) { receiver = receive; }

bool internal::has_fault_receiver() { return receiver != nullptr; }

void internal::raise(std::vector<Fault> faults) {
  if (faults.empty()) return;
  if (const auto receive = receiver.load()) return receive(std::move(faults));
  throw FaultError(std::move(faults));
}

std::vector<Fault> take_notes() {
  std::lock_guard lock(notes().mutex);
  return std::exchange(notes().all, {});
}

bool internal::has_room_for_notes() {
  std::lock_guard lock(notes().mutex);
  return notes().all.size() < FaultError::kMaxFaults;
}

void internal::keep_notes(std::vector<Fault> faults) {
  std::lock_guard lock(notes().mutex);
  for (Fault& fault : faults) {
    if (notes().all.size() >= FaultError::kMaxFaults) break;
    fault.finding.severity = Severity::warning;
    notes().all.push_back(std::move(fault));
  }
}

}  // namespace convlab::simt
