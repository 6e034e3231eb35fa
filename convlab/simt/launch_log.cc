// Remembers which kernels were launched, for reports about programs and about outputs that no thread wrote.

#include "convlab/simt/launch_log.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "convlab/simt/grid.h"

namespace convlab::simt {
namespace {

constexpr size_t kMost = 1000;

struct Log {
  std::mutex mutex;
  std::vector<PastLaunches> launches;
};

Log& log() {
  static Log& one = *new Log;  // never destroyed: a launch may come from a static object's destructor
  return one;
}

bool is_equal(const cuda::dim3& a, const cuda::dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

}  // namespace

std::vector<PastLaunches> take_launches() {
  std::lock_guard lock(log().mutex);
  return std::exchange(log().launches, {});
}

void internal::log_launch(const Grid& grid, const Where& where) {
  PastLaunches launch{grid.kernel_name(), place_of(*grid.module, {nullptr, where}), grid.grid, grid.block, 1};
  std::lock_guard lock(log().mutex);
  const auto known = std::ranges::find_if(log().launches, [&](const PastLaunches& each) {
    return each.kernel == launch.kernel && each.place == launch.place && is_equal(each.grid, launch.grid) &&
           is_equal(each.block, launch.block);
  });
  if (known != log().launches.end()) {
    ++known->count;
  } else if (log().launches.size() < kMost) {
    log().launches.push_back(std::move(launch));
  }
}

}  // namespace convlab::simt
