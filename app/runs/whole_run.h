#pragma once

#include "app/runs/run.h"
#include "convlab/profile/startup.h"

namespace convlab::app {

/// Runs `convlab run` with these options in its own process, from a cold start to its end. Error of the kind and with
/// the message with which the run fails.
WholeRun time_whole_run(const RunOptions& options);

}  // namespace convlab::app
