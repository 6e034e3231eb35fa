#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace convlab::app {

/// The largest numbers of shards, and of images that they share.
constexpr int64_t kMostShards = int64_t{1} << 20, kMostShardedImages = int64_t{1} << 40;

/// The share of the images that one process of several computes.
struct Shard {
  int64_t index = 0, count = 1;

  /// Identifies the processes that srun or mpirun started together: the launcher's name and its ID, "mpirun
  /// 3512467457", or "mpiexec" if it sets no ID. "" with --shard.
  std::string launch;
  int64_t local_index = 0;  ///< rank among the launch's processes on this host

  bool whole() const { return count == 1; }
  bool launched() const { return !launch.empty(); }

  /// The share of n images (at most kMostShardedImages): images(n) of them, from first(n) on. The sizes of shares
  /// differ by at most one.
  int64_t first(int64_t n) const { return n * index / count; }
  int64_t images(int64_t n) const { return n * (index + 1) / count - first(n); }

  /// Returns images(n). Throws Error(bad_input) if it is 0.
  int64_t some_images(int64_t n) const;
};

/// Parses "I/N", with I from 0 to N - 1. Throws Error(bad_input) for anything else. `name` is the option's.
Shard parse_shard(const std::string& text, const std::string& name);

/// Returns the share of a process that mpirun or srun started together with others, from its environment; the whole for
/// any other process. `variable` reads the environment, as std::getenv() does. Throws Error(bad_input) if rank and size
/// contradict each other.
Shard launched_shard(const std::function<const char*(const char*)>& variable);

/// Returns the GPU of a launch's process if the user named none: "cuda:1", by its rank on this host. Returns any other
/// `device` unchanged.
std::string device_of(const Shard& shard, const std::string& device);

}  // namespace convlab::app
