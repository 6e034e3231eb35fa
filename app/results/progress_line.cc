// Prints the progress line.

#include "app/results/progress_line.h"

#include "app/results/output_streams.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace convlab::app {

Progress::Progress(std::string what, int64_t total) : what_(std::move(what)), total_(total) {}

Progress::~Progress() {
  if (on_screen_) std::fputs("\r\033[K", messages_stream());
}

bool Progress::visible() { return ::isatty(::fileno(messages_stream())) == 1; }

void Progress::advance(int64_t amount) {
  constexpr std::chrono::milliseconds kSilence{1000}, kInterval{200};
  done_ += amount;
  const Clock::time_point now = Clock::now();
  if (!visible() || done_ <= 0 || now - begin_ < kSilence || now - shown_ < kInterval) return;
  shown_ = now;
  on_screen_ = true;
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const double left = elapsed / static_cast<double>(done_) * static_cast<double>(total_ - done_);
  fmt::print(messages_stream(), "\r\033[K{}: {} %, {} left", what_, done_ * 100 / total_, duration_text(left));
  std::fflush(messages_stream());
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace convlab::app
