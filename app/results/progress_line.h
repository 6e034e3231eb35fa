#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace convlab::app {

/// A line on standard error, "classifying: 40 %, 12 s left", rewritten in place as work goes on and erased at the end.
/// Appears only on a terminal, and only for work that takes longer than a second.
class Progress {
 public:
  Progress(std::string what, int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(int64_t amount);

  /// Whether there is a terminal to print it to.
  static bool visible();

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  int64_t total_, done_ = 0;
  Clock::time_point begin_ = Clock::now(), shown_ = begin_;
  bool on_screen_ = false;
};

/// Returns "2:05" for 125 seconds, "1:00:00" for an hour, "12 s" below a minute.
std::string duration_text(double seconds);

}  // namespace convlab::app
