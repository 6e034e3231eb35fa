// Writes the results of `convlab explain` as JSON.

#include "app/results/explain_json.h"

#include <nlohmann/json.hpp>

namespace convlab::app {

void write_json(Output& output, const std::string& model, const std::vector<Shape>& inputs,
                const std::vector<ExplainedStep>& steps) {
  if (!output.wants_json()) return;
  Json list = Json::array();
  for (const ExplainedStep& step : steps) {
    const LayerResult& layer = step.layer;
    list.push_back({{"name", layer.name},
                    {"op", layer.op},
                    {"problem", layer.problem},
                    {"kernel", layer.kernel},
                    {"math", name_of(layer.math)},
                    {"output", step.output},
                    {"inputs", step.inputs},
                    {"flops", layer.flops},
                    {"bytes", layer.bytes},
                    {"op_time_s", layer.seconds > 0 ? Json(layer.seconds) : Json(nullptr)},
                    {"bound_s", step.bound ? Json(step.bound->seconds) : Json(nullptr)},
                    {"limit", step.bound ? Json(name_of(step.bound->limit)) : Json(nullptr)},
                    {"why", step.why}});
  }
  output.json({{"model", model}, {"inputs", inputs}, {"steps", std::move(list)}});
}

}  // namespace convlab::app
