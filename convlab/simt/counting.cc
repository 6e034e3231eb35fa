// Keeps the counts of all launches since start_counting().

#include "convlab/simt/counting.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace convlab::simt {
namespace {

std::atomic<bool> counting{false};

struct State {
  std::mutex mutex;  ///< guards the members below
  std::vector<KernelCounts> kept;
  int64_t filled = 0;
};
State& state() {
  static State& one = *new State;  // never destroyed: programs report when they end
  return one;
}

}  // namespace

void start_counting() {
  std::lock_guard lock(state().mutex);
  state().kept.clear();
  state().filled = 0;
  counting = true;
}

int64_t filled_bytes() {
  std::lock_guard lock(state().mutex);
  return state().filled;
}

std::vector<KernelCounts> stop_counting() {
  std::lock_guard lock(state().mutex);
  counting = false;
  return std::exchange(state().kept, {});
}

namespace internal {

bool is_counting() { return counting; }

void keep_fill(size_t bytes) {
  if (!counting) return;
  std::lock_guard lock(state().mutex);
  state().filled += static_cast<int64_t>(bytes);
}

void keep_counts(KernelCounts kernel) {
  std::lock_guard lock(state().mutex);
  const auto known = std::find_if(state().kept.begin(), state().kept.end(), [&](const KernelCounts& other) {
    return other.kernel == kernel.kernel && other.grid == kernel.grid && other.block == kernel.block &&
           other.dynamic_shared_bytes == kernel.dynamic_shared_bytes;
  });
  if (known == state().kept.end()) {
    state().kept.push_back(std::move(kernel));
  } else {
    *known += kernel;
  }
}

}  // namespace internal
}  // namespace convlab::simt
