// Keeps the counts of all launches since start_counting().

#include "convlab/simt/counting.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace convlab::simt {
namespace {

std::atomic<bool> counting{false};
std::mutex mutex;
std::vector<KernelCounts> kept;
int64_t filled = 0;

}  // namespace

void start_counting() {
  std::lock_guard lock(mutex);
  kept.clear();
  filled = 0;
  counting = true;
}

int64_t filled_bytes() {
  std::lock_guard lock(mutex);
  return filled;
}

std::vector<KernelCounts> stop_counting() {
  std::lock_guard lock(mutex);
  counting = false;
  return std::exchange(kept, {});
}

namespace internal {

bool is_counting() { return counting; }

void keep_fill(size_t bytes) {
  if (!counting) return;
  std::lock_guard lock(mutex);
  filled += static_cast<int64_t>(bytes);
}

void keep_counts(KernelCounts kernel) {
  std::lock_guard lock(mutex);
  const auto known = std::find_if(kept.begin(), kept.end(), [&](const KernelCounts& other) {
    return other.kernel == kernel.kernel && other.grid == kernel.grid && other.block == kernel.block &&
           other.dynamic_shared_bytes == kernel.dynamic_shared_bytes;
  });
  if (known == kept.end()) {
    kept.push_back(std::move(kernel));
  } else {
    *known += kernel;
  }
}

}  // namespace internal
}  // namespace convlab::simt
