#pragma once

#include <string>
#include <vector>

#include "app/usage.h"

namespace convlab::app {

/// How a process that ran this program ended.
struct ChildRun {
  int status = -1;                ///< exit status, or 128 + the signal that ended it
  std::string output, complaint;  ///< standard output and standard error
  Usage usage;                    ///< of the whole process, as its parent sees it: what /usr/bin/time gives
};

/// Runs this program with these arguments and waits for it. Error(unavailable) where no process can be started.
ChildRun run_child(const std::vector<std::string>& arguments);

}  // namespace convlab::app
