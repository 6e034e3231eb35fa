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
  bool until_empty = false;  ///< return when no job waits or runs any more
  /// Starts the judge on a job whose folder is there.
  std::function<std::unique_ptr<JudgeRun>(const Lease& lease)> start;
  /// Is told what happens, in a line.
  std::function<void(const std::string& line)> tell;
};

/// Takes in what is in the spool, takes one job after another by a lease, has it judged, and stores the verdict.
/// Whatever ends this process, at any moment, costs an attempt and no more: the lease ends when nobody has heard of it,
/// and another attempt begins. Error(unavailable) where the judge says that it cannot judge here.
void work(const Folder& folder, const WorkOptions& options);

}  // namespace convlab::classroom
