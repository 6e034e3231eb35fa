#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/runs/layer_result.h"
#include "convlab/measure/ceilings.h"
#include "convlab/tensor/shape.h"

namespace convlab::app {

/// One step of a plan, to be printed or drawn.
struct ExplainedStep {
  LayerResult layer;  ///< with a time if it was measured
  Shape output;
  std::vector<int> inputs;     ///< the steps whose outputs it reads; -1: the network's input
  std::optional<Bound> bound;  ///< if the machine's ceilings are known
  std::string why;             ///< why this kernel, and not a preferred one
  bool by_rank = false;        ///< because it is the first by rank that supports the step
};

/// Returns the network as an SVG: a row for each step with its operator, shape, kernel and bound, and lines from the
/// steps whose outputs it reads.
std::string network_picture(const std::string& title, const std::vector<ExplainedStep>& steps);

}  // namespace convlab::app
