#pragma once

#include "app/runs/run_command.h"
#include "convlab/profile/startup.h"

namespace convlab::app {

/// Runs `convlab run` with these options in its own process, from a cold start to its end. If the run fails, throws an
/// Error of the same kind with the same message.
WholeRun time_whole_run(const RunOptions& options);

}  // namespace convlab::app
