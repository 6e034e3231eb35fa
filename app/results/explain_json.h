#pragma once

#include <string>
#include <vector>

#include "app/results/network_picture.h"
#include "app/results/output.h"

namespace convlab::app {

/// Writes {"model", "inputs": [shape, ...], "steps": [{"name", "op", "problem", "kernel", "math", "output", "inputs",
/// "flops", "bytes", "op_time_s", "bound_s", "limit", "why"}]}.
void write_json(Output& output, const std::string& model, const std::vector<Shape>& inputs,
                const std::vector<ExplainedStep>& steps);

}  // namespace convlab::app
