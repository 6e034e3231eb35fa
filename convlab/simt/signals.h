#pragma once

#include <signal.h>
#include <time.h>

#include <optional>

namespace convlab::simt::internal {

class Worker;

/// Progress checks of a worker per timeout of set_stuck_after().
inline constexpr int kTicksUntilStuck = 8;

/// Returns the timeout for hangs, in seconds.
double stuck_after();

/// Returns whether end_launches() was called.
bool launches_must_end();

/// While it lives, signals caused by a kernel on the calling thread become faults of the kernel and do not end the
/// program. A signal from one of its instructions (an integer division by zero, an unmapped address) ends the running
/// CUDA thread, and a timer checks whether the worker still makes progress. Signals that arrive while no CUDA thread
/// runs go to the previous handlers.
class SignalScope {
 public:
  /// `stack` is for the handlers: a kernel's own stack may be too small or corrupted.
  SignalScope(Worker& worker, void* stack, size_t stack_bytes);
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

  /// Checks every millisecond from now on. Async-signal-safe.
  void hurry();

 private:
  stack_t stack_before_{};
  std::optional<timer_t> timer_;  // nullopt if the system has no timers left: then nothing checks progress
};

}  // namespace convlab::simt::internal
