#pragma once

#include <string>
#include <vector>

#include "app/usage.h"

namespace convlab::app {

/// The result of running this program as a child process.
struct ChildRun {
  int status = -1;                ///< exit status, or 128 + the signal that ended it
  std::string output, complaint;  ///< standard output and standard error
  double begin_s = 0;             ///< start time, see monotonic_s()
  Usage usage;                    ///< of the whole process, as /usr/bin/time reports it
};

/// Runs this program with these arguments, the first being its name, and waits for it. Throws Error(unavailable) if the
/// process cannot be started or waited for. After the call, this process no longer ignores SIGCHLD.
ChildRun run_child(std::vector<std::string> arguments);

}  // namespace convlab::app
