#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace convlab {

/// What control groups leave to a process; infinite, or the most there is, where no group sets a limit.
struct GroupLimits {
  double cpus;           ///< CPUs' worth of time
  int64_t memory_bytes;  ///< of memory
};

/// The least that the group of this process or any group around it allows, of version 1 or 2: containers, services and
/// users have groups within groups. They are found by `root`/proc/self/cgroup and mountinfo; tests have a root of their
/// own.
GroupLimits group_limits(const std::filesystem::path& root = "/");

/// Threads that this process may use: the least of the scheduler's affinity mask and the groups' CPU limit, rounded up;
/// at least 1.
int usable_threads();

/// Bytes that this process may use: the least of the machine's memory and the groups' limit.
int64_t usable_memory_bytes();

/// "23.5 GB".
std::string gigabytes(int64_t bytes);

/// Error(bad_input) where `what` takes more than seven eighths of the bytes that this process may use. The message
/// gives both figures and then the `advice`: "--copies 500: 30000000 images need 24.9 GB of memory; this process may
/// use 8.0 GB and must keep an eighth of it free; use fewer".
void require_memory(int64_t bytes, std::string_view what, std::string_view advice);

}  // namespace convlab
