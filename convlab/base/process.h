#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace convlab {

/// How a process ended.
struct ProcessRun {
  int status = -1;                ///< exit status, or 128 + the signal that ended it
  bool out_of_time = false;       ///< it was ended because it took too long
  std::string output, complaint;  ///< standard output and standard error
  double user_s = 0, system_s = 0, elapsed_s = 0;
  int64_t max_rss_kb = 0;  ///< the most memory that was resident at once, in KiB
};

/// A child's end as a number that poll() finds readable from then on; -1 where the kernel is older than 5.3.
class ProcessEnd {
 public:
  explicit ProcessEnd(pid_t process);
  ~ProcessEnd();
  ProcessEnd(const ProcessEnd&) = delete;
  ProcessEnd& operator=(const ProcessEnd&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

/// Runs a program, found in PATH unless its name has a folder, with these arguments, the first being its name, and
/// waits for it. With a limit it is a process group of its own, all of which is killed after `limit_s` seconds.
/// Error(unavailable) if no process can be started or waited for. From then on this program no longer ignores the end
/// of children (SIGCHLD).
ProcessRun run_process(const std::string& program, std::vector<std::string> arguments, double limit_s = 0);

}  // namespace convlab
