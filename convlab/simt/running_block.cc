// Keeps the faults of a running block, and switches from its threads to the scheduler.

#include "convlab/simt/running_block.h"

#include <new>
#include <utility>

#include "convlab/simt/checks.h"
#include "convlab/simt/settings.h"

namespace convlab::simt::internal {

using boost::context::detail::jump_fcontext;

void RunningBlock::report(const RawFault& fault) {
  if (!is_reported(fault)) return;
  const bool uninitialized =
      fault.kind == FaultKind::uninitialized_shared || fault.kind == FaultKind::uninitialized_global;
  if (uninitialized && is_lenient()) return note(fault);
  if (fault.kind == FaultKind::redundant_write && !is_strict()) return note(fault);
  if (grid->goes_on && lets_kernel_go_on(fault.kind)) {
    add_fault(passed, fault);
    return;
  }
  if (!add_fault(faults, fault)) is_dead = true;
  grid->keep_faults(linear, faults);
}

void RunningBlock::give_passed_to_grid() {
  for (const RawFault& fault : passed) grid->keep_passed(linear, fault);
  passed.clear();
}

void RunningBlock::fail(RawFault fault) {
  fault.thread = current_number();
  // A stack overflow may have overwritten another thread's stack. If one thread is stuck, others wait for the same
  // thing.
  if (fault.kind == FaultKind::stack_overflow || fault.kind == FaultKind::stuck) is_dead = true;
  report(fault);
  // Nothing unwinds this stack, so nothing on it may own a resource.
  fault.~RawFault();
  new (&fault) RawFault;
  abandon();
}

void RunningBlock::fail_throw(const void* code) {
  RawFault fault;
  fault.kind = FaultKind::exception;
  fault.code = code;
  fault.detail = "kernels cannot throw";
  fail(std::move(fault));
}

void RunningBlock::abandon() {
  current().state = ThreadState::faulted;
  jump_fcontext(scheduler, nullptr);
  __builtin_unreachable();
}

void RunningBlock::finish() {
  current().state = ThreadState::done;
  jump_fcontext(scheduler, nullptr);
  __builtin_unreachable();
}

}  // namespace convlab::simt::internal
