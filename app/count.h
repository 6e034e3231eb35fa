#pragma once

#include "app/results/output.h"
#include "app/runs/run_command.h"

namespace convlab::app {

/// Whether `profile --counters` counts on simt, which needs no GPU.
bool counts_on_simt(const RunOptions& options);

/// Runs the network once on simt and prints the memory accesses of each convolution kernel, per source line.
void count(const RunOptions& options, Output& output);

}  // namespace convlab::app
