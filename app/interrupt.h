#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>

namespace convlab::app {

/// While it lives, Ctrl-C (SIGINT) ends the process through `last_words`: a thread of its own waits for the signal,
/// calls them, whatever the other threads are doing, and exits with kInterrupted. Threads started meanwhile leave the
/// signal to it, so create it before them. An ignored signal stays ignored.
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
