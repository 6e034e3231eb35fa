// Runs a function on Ctrl-C before the process ends.

#include "app/interrupt.h"

#include <pthread.h>
#include <unistd.h>

#include <exception>
#include <utility>

namespace convlab::app {

OnInterrupt::OnInterrupt(std::function<void()> last_words) {
  struct sigaction action {};
  if (sigaction(SIGINT, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return;  // our parent wants it ignored
  sigemptyset(&signal_);
  sigaddset(&signal_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signal_, &mask_before_);
  waiting_ = std::thread([this, words = std::move(last_words)] { wait(words); });
}

OnInterrupt::~OnInterrupt() {
  if (!waiting_.joinable()) return;
  over_ = true;
  pthread_kill(waiting_.native_handle(), SIGINT);  // wakes the thread
  waiting_.join();
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

void OnInterrupt::wait(const std::function<void()>& last_words) {
  int signal = 0;
  while (sigwait(&signal_, &signal) != 0) {
  }
  if (over_) return;
  try {
    last_words();
  } catch (const std::exception&) {  // what we cannot write now is lost
  }
  ::_exit(kInterrupted);
}

}  // namespace convlab::app
