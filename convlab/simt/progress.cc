// Decides whether a launch still makes progress.

#include "convlab/simt/progress.h"

#include <fmt/format.h>

#include <utility>

#include "convlab/base/error.h"

namespace convlab::simt {
namespace {

std::atomic<double> seconds_until_stuck{30};
std::atomic<bool> must_end{false};
std::atomic<int64_t> begun_blocks{0};

}  // namespace

void set_stuck_after(double seconds) {
  constexpr double kMost = 24 * 60 * 60;
  if (!(seconds > 0 && seconds <= kMost)) {
    throw bad_input("the stuck-kernel timeout must be greater than 0 and at most {:g} s, got {:g} s", kMost, seconds);
  }
  seconds_until_stuck = seconds;
}

void end_launches() { must_end = true; }

int64_t blocks_begun() { return begun_blocks; }

namespace internal {

double stuck_after() { return seconds_until_stuck; }

void count_begun_block() { begun_blocks.fetch_add(1, std::memory_order_relaxed); }

bool Progress::tick(std::atomic<int64_t>& of_grid, bool is_needed) {
  const int64_t own = made_.load(std::memory_order_relaxed);
  if (own != last_made_) of_grid.fetch_add(1, std::memory_order_relaxed);
  const int64_t all = of_grid.load(std::memory_order_relaxed);
  const bool progress = all != last_of_grid_;
  spins_ = resumed_ == std::exchange(resumed_at_last_tick_, resumed_);
  last_made_ = own;
  last_of_grid_ = all;
  ticks_without_ = progress ? 0 : ticks_without_ + 1;
  stuck_ = ticks_without_ >= kTicksUntilStuck || must_end || !is_needed;
  return stuck_;
}

std::string Progress::stuck_text() const {
  return must_end ? "until the time limit" : fmt::format("for {:g} s", stuck_after());
}

}  // namespace internal
}  // namespace convlab::simt
