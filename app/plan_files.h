#pragma once

#include <string>

#include "app/compute_options.h"
#include "convlab/device/device.h"
#include "convlab/engine/engine_options.h"
#include "convlab/model/graph.h"

namespace convlab::app {

/// Adds --plan-file.
void add_plan_file(CLI::App& options, ComputeOptions& compute);

/// If compute.plan_file names a file, sets the engine's kernels and batch size from it, without a search. `graph`: the
/// model as load_model() returns it. Throws Error(bad_input), with what to do, if the file is not as `convlab tune`
/// writes it, or is for another model, machine, version or plan.
void replay_plan_file(const ComputeOptions& compute, const Graph& graph, const DeviceCaps& caps,
                      EngineOptions& options);

}  // namespace convlab::app
