#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace convlab {

/// Limits that control groups (cgroups) set for a process; infinity, or the largest int64_t, if no group sets a limit.
struct GroupLimits {
  double cpus;  ///< CPU time per unit of time: 1.5 is one and a half CPUs
  int64_t memory_bytes;
};

/// Returns the lowest limits among this process's cgroup and its ancestors, in cgroup v1 and v2: containers, services
/// and users have nested groups. Reads `root`/proc/self/cgroup and mountinfo; tests pass their own root.
GroupLimits group_limits(const std::filesystem::path& root = "/");

/// Returns the threads that this process may use: the minimum of the scheduler's affinity mask and the cgroup CPU limit
/// rounded up; at least 1.
int usable_threads();

/// Returns the bytes that this process may use: the minimum of the machine's memory and the cgroup limit.
int64_t usable_memory_bytes();

/// Returns "23.5 GB".
std::string gigabytes(int64_t bytes);

/// Throws Error(bad_input) if `bytes` is more than seven eighths of the memory that this process may use. The message
/// has `what`, both figures and the `advice`: "--copies 500: 30000000 images need 24.9 GB of memory; this process may
/// use 8.0 GB and must keep an eighth of it free; use fewer".
void require_memory(int64_t bytes, std::string_view what, std::string_view advice);

}  // namespace convlab
