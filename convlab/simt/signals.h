#pragma once

#include <signal.h>
#include <time.h>

#include <optional>

namespace convlab::simt::internal {

class Worker;

/// How often we look at a worker's progress in a stretch of set_stuck_after().
inline constexpr int kTicksUntilStuck = 8;

/// The stretch, in seconds.
double stuck_after();

/// Whether end_launches() was called.
bool launches_must_end();

/// While it lives, what a kernel does to the processor on the calling thread is a fault of the kernel and not the end
/// of the program: a signal that one of its instructions raises (an integer division by zero, an address where nothing
/// is) ends the running CUDA thread, and a clock checks whether the worker still makes progress. Signals that come
/// while no CUDA thread runs go where they went before.
class SignalScope {
 public:
  /// `stack` is for the handlers: a kernel's own may be too small or broken.
  SignalScope(Worker& worker, void* stack, size_t stack_bytes);
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

  /// Checks every millisecond from now on. Safe in a signal handler.
  void hurry();

 private:
  stack_t stack_before_{};
  std::optional<timer_t> timer_;  // none if the system has no more of them: then nothing checks
};

}  // namespace convlab::simt::internal
