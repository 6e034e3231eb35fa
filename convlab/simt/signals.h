#pragma once

#include <signal.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace convlab::simt::internal {

/// What the handlers of a SignalScope call, on its thread.
class SignalReceiver {
 public:
  /// An instruction raised a signal. Does not return if it was one of a CUDA thread.
  virtual void on_instruction(int signal, uintptr_t counter) = 0;
  /// A timer tick interrupted the instruction at `counter`.
  virtual void on_clock(uintptr_t counter) = 0;

 protected:
  ~SignalReceiver() = default;
};

/// While it lives, signals caused by a kernel on the calling thread become faults of the kernel and do not end the
/// program. A signal from one of its instructions (an integer division by zero, an unmapped address) ends the running
/// CUDA thread, and a timer checks whether the worker still makes progress. Signals that arrive while no CUDA thread
/// runs go to the previous handlers.
class SignalScope {
 public:
  /// `stack` is for the handlers: a kernel's own stack may be too small or corrupted.
  SignalScope(SignalReceiver& receiver, void* stack, size_t stack_bytes, double tick_seconds);
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
