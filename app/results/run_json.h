#pragma once

#include <memory>
#include <string>

#include "app/classify.h"
#include "app/results/output.h"
#include "convlab/profile/startup.h"

namespace convlab::app {

/// A run, with its command and the lines that it printed.
std::shared_ptr<Json> run_json(const ClassifyOptions& options, const Classifier& classifier,
                               const Classification& result, const Output& output);

/// Writes a run; `output.json`, for files that do not include JSON's header.
void write_json(Output& output, const Json& run);

/// Writes a run with where its time went, for a caller that timed it from outside: see app/whole_run.h. `json_seconds`:
/// what run_json() took.
void write_json(Output& output, Json& run, const StageLog& log, double json_seconds);

}  // namespace convlab::app
