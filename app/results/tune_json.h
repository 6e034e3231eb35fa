#pragma once

#include "app/networks/tuning.h"
#include "app/results/output.h"
#include "convlab/plan/plan_file.h"

namespace convlab::app {

/// Writes {"model", "file", "device", "processor", "threads", "math", "mode", "input", "batch", "images", "planned_s",
/// "tuned_s", "ways": [{"batch", "channel_lanes", "seconds", "taken"}], "plans": [{"inputs", "channel_lanes", "steps":
/// [{"name", "problem", "kernel", "ms", "next", "next_ms", "why"}]}]}.
void write_json(Output& output, const std::string& path, const PlanFile& file, const Tuned& tuned, int64_t images);

}  // namespace convlab::app
