#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>

namespace convlab::app {

/// While it lives, Ctrl-C (SIGINT) ends the process by way of `last_words`: a thread of its own waits for the signal, calls
/// them, whatever the other threads are at, and exits with kInterrupted. Threads that are started meanwhile leave the
/// signal to it, so it must come before them. Where the signal is ignored, it stays so.
class OnInterrupt {
 public:
  static constexpr int kInterrupted = 128 + SIGINT;  ///< the exit status, as shells tell it

  explicit OnInterrupt(std::function<void()> last_words);
  ~OnInterrupt();
  OnInterrupt(const OnInterrupt&) = delete;
  OnInterrupt& operator=(const OnInterrupt&) = delete;

 private:
  void wait(const std::function<void()>& last_words);

  sigset_t signal_{}, mask_before_{};
  std::atomic<bool> over_ = false;
  std::thread waiting_;
};

}  // namespace convlab::app
