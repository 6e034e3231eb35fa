#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace convlab::app {

constexpr int64_t kMostShards = int64_t{1} << 20, kMostShardedImages = int64_t{1} << 40;

/// The share of the images that one process of several computes.
struct Shard {
  int64_t index = 0, count = 1;

  /// What srun or mpirun calls the processes that it started together, with the launcher's name: "mpirun 3512467457",
  /// or "mpiexec" where it gives no number. "" where somebody said --shard.
  std::string launch;
  int64_t local_index = 0;  ///< among a launch's processes on this host

  bool whole() const { return count == 1; }
  bool launched() const { return !launch.empty(); }

  /// The share of n images, at most kMostShardedImages: those from first(n) on, images(n) of them. Shares are of one
  /// size, or differ by one.
  int64_t first(int64_t n) const { return n * index / count; }
  int64_t images(int64_t n) const { return n * (index + 1) / count - first(n); }

  /// images(n). Error(bad_input) where there is none.
  int64_t some_images(int64_t n) const;
};

/// "I/N", I from 0 to N - 1. Error(bad_input) otherwise. `name` is the option's.
Shard parse_shard(const std::string& text, const std::string& name);

/// The share of a process that mpirun or srun started with others, by what they put into its environment; the whole for
/// any other process. `variable` reads the environment, as std::getenv() does. Error(bad_input) where rank and number
/// do not fit.
Shard launched_shard(const std::function<const char*(const char*)>& variable);

/// Which GPU a launch's process takes where nobody named one: "cuda:1", by its number on this host. Any other `device`
/// is what it was.
std::string device_of(const Shard& shard, const std::string& device);

}  // namespace convlab::app
