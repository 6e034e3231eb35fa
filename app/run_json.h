#pragma once

#include <memory>
#include <string>

#include "app/classify.h"
#include "app/output.h"
#include "convlab/profile/startup.h"

namespace convlab::app {

/// A run, with the command and the lines that it has printed.
std::shared_ptr<Json> run_json(const ClassifyOptions& options, const Classifier& classifier,
                               const Classification& result, const Output& output);

/// Writes a run; `output.json`, for who does not read JSON's header.
void write_json(Output& output, const Json& run);

/// Writes a run with where its time went, for who timed it from outside: see app/whole_run.h. `json_seconds`: what
/// run_json() took.
void write_json(Output& output, Json& run, const StageLog& log, double json_seconds);

}  // namespace convlab::app
