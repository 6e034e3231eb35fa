#pragma once

#include <optional>
#include <vector>

#include "app/results/output.h"
#include "convlab/predict/step.h"

namespace convlab::app {

struct PredictedStep {
  Step step;
  std::optional<MeasuredStep> measured = {};
};
void write_json(Output& output, const std::vector<PredictedStep>& steps);

}  // namespace convlab::app
