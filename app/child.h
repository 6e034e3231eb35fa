#pragma once

#include <string>
#include <vector>

#include "app/usage.h"

namespace convlab::app {

/// How a process that ran this program ended.
struct ChildRun {
  int status = -1;                ///< exit status, or 128 + the signal that ended it
  std::string output, complaint;  ///< standard output and standard error
  double begin_s = 0;             ///< when it was started, see monotonic_s()
  Usage usage;                    ///< of the whole process, as its parent sees it: what /usr/bin/time gives
};

/// Runs this program with these arguments, the first being its name, and waits for it. Error(unavailable) if no process
/// can be started or waited for. From then on this program no longer ignores the end of children (SIGCHLD).
ChildRun run_child(std::vector<std::string> arguments);

}  // namespace convlab::app
