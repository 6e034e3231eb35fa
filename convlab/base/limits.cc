// Finds the threads and the memory that this process may use, including cgroup limits.

#include "convlab/base/limits.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/base/text.h"

namespace convlab {
namespace {

namespace fs = std::filesystem;

/// A mounted cgroup hierarchy, and this process's group in it.
struct Hierarchy {
  fs::path top;    ///< the directory of the topmost visible group
  fs::path below;  ///< from there to the directory of the process's group; empty if they are the same
};

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// Returns the groups of this process by controller, from /proc/self/cgroup, whose lines are "4:cpu,cpuacct:/path".
/// cgroup v2's line is "0::/path"; its key is "".
std::map<std::string, std::string> own_groups(const fs::path& file) {
  std::map<std::string, std::string> groups;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (controllers.empty()) groups[""] = group;
    for (const std::string& controller : split(controllers, ',')) groups[controller] = group;
  }
  return groups;
}

/// Returns all hierarchies that may limit `controller`: that of cgroup v1 with this name, and that of cgroup v2, whose
/// files may be missing. A line of mountinfo is "31 23 0:28 ROOT MOUNT_POINT options [tags] - TYPE source OPTIONS".
std::vector<Hierarchy> hierarchies(const fs::path& root, const std::string& controller) {
  const std::map<std::string, std::string> groups = own_groups(root / "proc/self/cgroup");
  std::vector<Hierarchy> found;
  std::ifstream lines(root / "proc/self/mountinfo");
  for (std::string line; std::getline(lines, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> mount = split(line.substr(0, dash), ' '), type = split(line.substr(dash + 3), ' ');
    if (mount.size() < 5 || type.size() < 3) continue;
    const bool wanted = type[0] == "cgroup2" || (type[0] == "cgroup" && contains(split(type[2], ','), controller));
    const auto group = groups.find(type[0] == "cgroup2" ? "" : controller);
    if (!wanted || group == groups.end()) continue;
    // In a container the mount may begin at the container's own group.
    const fs::path below = fs::path(group->second).lexically_relative(mount[3]);
    const bool seen = !below.empty() && *below.begin() != ".." && below != ".";
    found.push_back({.top = root / fs::path(mount[4]).relative_path(), .below = seen ? below : fs::path()});
  }
  return found;
}

/// Calls `each` with the directories of all groups from the topmost down to the process's own.
template <class Each>
void for_each_group(const fs::path& root, const std::string& controller, Each each) {
  for (const Hierarchy& hierarchy : hierarchies(root, controller)) {
    fs::path folder = hierarchy.top;
    each(folder);
    for (const fs::path& name : hierarchy.below) each(folder /= name);
  }
}

/// Returns the number that a file begins with; 0 if there is none, as in "max".
double number_in(const fs::path& file) {
  double number = 0;
  std::ifstream(file) >> number;
  return number;
}

/// Returns a group's CPU limit, in CPUs; 0 if it sets no limit.
double granted_cpus(const fs::path& group) {
  double quota = 0, period = 0;
  if (std::ifstream file(group / "cpu.max"); !(file >> quota >> period)) {
    quota = number_in(group / "cpu.cfs_quota_us");  // -1: no limit
    period = number_in(group / "cpu.cfs_period_us");
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

}  // namespace

GroupLimits group_limits(const fs::path& root) {
  GroupLimits limits{.cpus = std::numeric_limits<double>::infinity(),
                     .memory_bytes = std::numeric_limits<int64_t>::max()};
  for_each_group(root, "cpu", [&](const fs::path& group) {
    if (const double cpus = granted_cpus(group); cpus > 0) limits.cpus = std::min(limits.cpus, cpus);
  });
  for_each_group(root, "memory", [&](const fs::path& group) {
    for (const char* file : {"memory.max", "memory.limit_in_bytes"}) {
      const double bytes = number_in(group / file);
      if (bytes > 0 && bytes < static_cast<double>(limits.memory_bytes)) {
        limits.memory_bytes = static_cast<int64_t>(bytes);
      }
    }
  });
  return limits;
}

int usable_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = static_cast<int>(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof set, &set) == 0) count = CPU_COUNT(&set);
  if (const double cpus = std::ceil(group_limits().cpus); cpus < count) count = static_cast<int>(cpus);
  return std::max(count, 1);
}

int64_t usable_memory_bytes() {
  const int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return std::min(bytes, group_limits().memory_bytes);
}

std::string gigabytes(int64_t bytes) { return fmt::format("{:.1f} GB", static_cast<double>(bytes) * 1e-9); }

void require_memory(int64_t bytes, std::string_view what, std::string_view advice) {
  // The program and the system need some memory, too, and Linux kills a process that gets close to the limit.
  const int64_t usable = usable_memory_bytes();
  if (bytes <= usable - usable / 8) return;
  throw bad_input("{} {} of memory; this process may use {} and must keep an eighth of it free; {}", what,
                  gigabytes(bytes), gigabytes(usable), advice);
}

}  // namespace convlab
