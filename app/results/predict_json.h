#pragma once

#include <optional>
#include <vector>

#include "app/results/output.h"
#include "convlab/predict/step.h"

namespace convlab::app {

/// A predicted change from one kernel to another, and its measured times if there are any.
struct PredictedStep {
  LadderStep step;
  std::optional<MeasuredStep> measured = {};
};
void write_json(Output& output, const std::vector<PredictedStep>& steps);

}  // namespace convlab::app
