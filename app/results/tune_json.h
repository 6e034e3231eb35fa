#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/networks/tuning.h"
#include "app/results/output.h"
#include "convlab/plan/plan_file.h"

namespace convlab::app {

/// Writes {"model", "file", "device", "processor", "threads", "math", "mode", "input", "batch", "images", "planned_s",
/// "tuned_s", "ways": [{"batch", "channel_lanes", "seconds", "taken"}], "plans": [{"inputs", "channel_lanes", "steps":
/// [{"name", "problem", "kernel", "ms", "next", "next_ms", "why"}]}]}.
void write_json(Output& output, const std::string& path, const PlanFile& file, const Tuned& tuned, int64_t images);

/// A kernel with values for its tunables, and its time for a problem.
struct TunedKernel {
  std::string kernel;
  std::map<std::string, int> tuning;  ///< by name of the tunable; {}: the kernel's own choice
  double ms = 0;                      ///< median
  size_t samples = 0;                 ///< 1: given up as too slow
};

/// What `convlab tune --problem` found for a problem.
struct TunedProblem {
  std::string problem;               ///< see problem_text()
  size_t fastest = 0;                ///< index into `kernels`
  std::string_view why;              ///< see Pick
  std::vector<TunedKernel> kernels;  ///< the first one is the planner's choice
};

void write_json(Output& output, DeviceKind device, const std::vector<TunedProblem>& problems);

}  // namespace convlab::app
