#pragma once

#include <optional>
#include <vector>

#include "app/results/output.h"
#include "convlab/predict/predicted_step.h"

namespace convlab::app {

/// A prediction, and the measured times if there are any.
struct PredictedStep {
  LadderStep step;
  std::optional<MeasuredStep> measured = {};
};

/// Without a kernel before, the members "from", "from_ms", "ratio", "from_limit" and "before" are absent, and without
/// images, "counted_images".
void write_json(Output& output, const std::vector<PredictedStep>& steps);

}  // namespace convlab::app
