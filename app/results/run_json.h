#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/results/output.h"
#include "app/runs/classification.h"
#include "convlab/profile/startup.h"

namespace convlab::app {

/// Returns the layers of a run: [{"name", "op", "problem", "kernel", "op_time_s", "gflops"}].
Json to_json(const std::vector<LayerResult>& layers);

/// Returns a run as JSON, with its command and the lines that it printed.
std::shared_ptr<Json> run_json(const ClassifyOptions& options, const Classifier& classifier,
                               const Classification& result, const Output& output);

/// Same as `output.json(run)`, for files that do not include the JSON header.
void write_json(Output& output, const Json& run);

/// Writes a run with the times of its stages, for a caller that times the whole process; see app/runs/whole_run.h.
/// `json_seconds`: the time of run_json().
void write_json(Output& output, Json& run, const StageLog& log, double json_seconds);

}  // namespace convlab::app
