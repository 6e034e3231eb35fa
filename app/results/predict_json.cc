// Writes the results of `convlab predict` as JSON.

#include "app/results/predict_json.h"

#include <nlohmann/json.hpp>

#include "convlab/base/json.h"
#include "convlab/kernels/step_text.h"

namespace convlab::app {
namespace {

Json to_json(const FunctionTime& function) {
  Json resources = Json::array();
  for (const Resource& resource : function.resources) {
    resources.push_back({{"name", resource.name},
                         {"unit", resource.unit},
                         {"count", resource.count},
                         {"rate", resource.rate},
                         {"ms", resource.seconds() * 1e3}});
  }
  const Quantities& sum = function.quantities;
  return {{"function", function.function},
          {"launches", function.launches},
          {"ms", function.seconds() * 1e3},
          {"registers", function.registers},
          {"occupancy",
           {{"blocks", function.occupancy.blocks},
            {"warps", function.occupancy.warps},
            {"share", function.occupancy.share},
            {"limiter", function.occupancy.limiter},
            {"resident_warps", function.resident_warps}}},
          {"global_requests", sum.global_requests},
          {"global_sectors", sum.global_sectors},
          {"shared_requests", sum.shared_requests},
          {"shared_wavefronts", sum.shared_wavefronts},
          {"bank_conflicts", sum.bank_conflicts},
          {"atomic_requests", sum.atomic_requests},
          {"memory_bytes", sum.memory_bytes},
          {"cache_bytes", sum.cache_bytes},
          {"flops", sum.flops},
          {"tf32_flops", sum.tf32_flops},
          {"half_flops", sum.half_flops},
          {"instructions", sum.instructions},
          {"active_lanes", sum.active_lanes()},
          {"resources", std::move(resources)}};
}

Json to_json(const Prediction& prediction) {
  Json functions = Json::array();
  for (const FunctionTime& function : prediction.time.functions) functions.push_back(to_json(function));
  return {{"kernel", prediction.work.kernel},
          {"ms", prediction.time.seconds() * 1e3},
          {"limit", prediction.limit().name},
          {"functions", std::move(functions)}};
}

Json to_json(const PredictedStep& predicted) {
  const LadderStep& step = predicted.step;
  Json json{{"kernel", step.after.work.kernel}, {"problem", problem_text(step.after.work.step)},
            {"device", step.rates.device},      {"ms", step.after.time.seconds() * 1e3},
            {"limit", step.after.limit().name}, {"claim", claim(step)},
            {"why", reason(step.after)},        {"after", to_json(step.after)}};
  if (step.after.work.images > 0) json["counted_images"] = step.after.work.counted_images;
  if (step.before) {
    json.update({{"from", step.before->work.kernel},
                 {"from_ms", step.before->time.seconds() * 1e3},
                 {"ratio", step.ratio()},
                 {"from_limit", step.before->limit().name},
                 {"before", to_json(*step.before)}});
  }
  if (predicted.measured) {
    Json& measured = json["measured"] = {{"device", predicted.measured->device}, {"ms", predicted.measured->after_ms}};
    if (step.before) {
      measured.update({{"from_ms", predicted.measured->before_ms}, {"ratio", predicted.measured->ratio()}});
    }
  }
  return json;
}

}  // namespace

void write_json(Output& output, const std::vector<PredictedStep>& steps) {
  Json predictions = Json::array();
  for (const PredictedStep& step : steps) predictions.push_back(to_json(step));
  output.json({{"predictions", std::move(predictions)}});
}

}  // namespace convlab::app
