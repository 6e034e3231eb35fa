#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace convlab {

/// How a process ended.
struct ProcessRun {
  int status = -1;                ///< exit status, or 128 + the signal that ended it
  bool out_of_time = false;       ///< it was killed because it exceeded the time limit
  std::string output, complaint;  ///< standard output and standard error
  double user_s = 0, system_s = 0, elapsed_s = 0;
  int64_t max_rss_kb = 0;  ///< peak resident memory, in KiB
};

/// A pidfd of a child process, which poll() reports as readable once the child has ended; -1 if the kernel is older
/// than 5.3.
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

/// Runs a program and waits for it. Searches PATH if its name has no directory; arguments[0] is its name. With a limit,
/// the program gets its own process group, which is killed after `limit_s` seconds. Throws Error(unavailable) if the
/// process cannot be started or waited for. Resets SIGCHLD to its default action in this process.
ProcessRun run_process(const std::string& program, std::vector<std::string> arguments, double limit_s = 0);

}  // namespace convlab
