#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/results/output.h"
#include "app/runs/classify.h"
#include "convlab/profile/startup.h"

namespace convlab::app {

/// The layers of a run: [{"name", "op", "problem", "kernel", "op_time_s", "gflops"}].
Json to_json(const std::vector<LayerResult>& layers);

/// A run, with its command and the lines that it printed.
std::shared_ptr<Json> run_json(const ClassifyOptions& options, const Classifier& classifier,
                               const Classification& result, const Output& output);

/// Writes a run; `output.json`, for files that do not include JSON's header.
void write_json(Output& output, const Json& run);

/// Writes a run with where its time went, for a caller that timed it from outside: see app/runs/whole_run.h.
/// `json_seconds`: what run_json() took.
void write_json(Output& output, Json& run, const StageLog& log, double json_seconds);

}  // namespace convlab::app
