#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>

namespace convlab::app {

/// While it exists, Ctrl-C (SIGINT) calls `last_words` and ends the process with status kInterrupted. A dedicated
/// thread waits for the signal, so this works whatever other threads are doing. Create it before other threads, so that
/// they inherit the blocked signal. An ignored signal stays ignored.
class OnInterrupt {
 public:
  static constexpr int kInterrupted = 128 + SIGINT;  ///< the exit status, as in shells

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
