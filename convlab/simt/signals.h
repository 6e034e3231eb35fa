#pragma once

#include <signal.h>
#include <time.h>

#include <optional>

namespace convlab::simt::internal {

class Worker;

/// How often a worker is asked about its progress in a stretch of set_stuck_after().
inline constexpr int kTicksUntilStuck = 8;

/// The stretch, in seconds.
double stuck_after();

/// While it lives, what a kernel does to the processor is a fault of the kernel and not the end of the program, on the
/// calling thread: a signal that one of its instructions raises (an integer division by zero, an address where nothing
/// is) ends the CUDA thread that runs, and a clock asks the worker whether it still makes progress. Signals that come
/// while no CUDA thread runs go where they went before.
class SignalScope {
 public:
  /// `stack` is for the handlers: a kernel's own may be too small or broken.
  SignalScope(Worker& worker, void* stack, size_t stack_bytes);
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

  /// Asks every millisecond from now on. Safe in a signal handler.
  void hurry();

 private:
  stack_t stack_before_{};
  std::optional<timer_t> timer_;  // none where the system has no more of them: then nobody asks
};

}  // namespace convlab::simt::internal
