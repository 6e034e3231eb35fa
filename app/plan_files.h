#pragma once

#include <string>

#include "app/compute_options.h"
#include "convlab/device/device.h"
#include "convlab/engine/engine_options.h"
#include "convlab/model/graph.h"

namespace convlab::app {

/// --plan-file.
void add_plan_file(CLI::App& options, ComputeOptions& compute);

/// Where compute.plan_file names a file, has the engine take its kernels and its batch, and search nothing. `graph`:
/// the model as load_model() gives it. Error(bad_input) that says what to do where the file is not as `convlab tune`
/// wrote it, or is for another model, machine, version or plan than this.
void replay_plan_file(const ComputeOptions& compute, const Graph& graph, const DeviceCaps& caps,
                      EngineOptions& options);

}  // namespace convlab::app
