#pragma once

#include <functional>
#include <memory>
#include <string>

#include "convlab/classroom/folder.h"
#include "convlab/classroom/judge_run.h"
#include "convlab/classroom/store.h"

namespace convlab::classroom {

struct WorkOptions {
  std::string device;        ///< which jobs to take; "": all
  bool until_empty = false;  ///< return when no job is waiting or running
  /// Starts the judge on a job whose folder is written.
  std::function<std::unique_ptr<JudgeRun>(const Lease& lease)> start;
  /// Reports events, one line each.
  std::function<void(const std::string& line)> tell;
};

/// Processes the spool, takes one job after another under a lease, has it judged, and stores the verdict. If this
/// process dies at any moment, only the current attempt is lost: its lease expires, and another attempt begins. Throws
/// Error(unavailable) if the judge reports that it cannot judge on this machine.
void work(const Folder& folder, const WorkOptions& options);

}  // namespace convlab::classroom
