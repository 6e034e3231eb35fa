#pragma once

#include "app/results/output.h"
#include "app/runs/run.h"

namespace convlab::app {

/// Whether `profile --counters` is about simt's counts: they need no GPU.
bool counts_on_simt(const RunOptions& options);

/// Runs the network once on simt and prints what its convolutions' kernels do to memory, line by line.
void count(const RunOptions& options, Output& output);

}  // namespace convlab::app
