// Writes the results of `convlab tune` as JSON.

#include "app/results/tune_json.h"

#include <nlohmann/json.hpp>

namespace convlab::app {

void write_json(Output& output, const std::string& path, const PlanFile& file, const Tuned& tuned, int64_t images) {
  if (!output.wants_json()) return;
  Json ways = Json::array(), plans = Json::array();
  for (size_t i = 0; i < tuned.ways.size(); ++i) {
    const TunedWay& way = tuned.ways[i];
    ways.push_back({{"batch", way.batch},
                    {"channel_lanes", way.channel_lanes},
                    {"seconds", way.seconds},
                    {"taken", i == tuned.way}});
  }
  for (const PlanChoice& plan : file.choices.plans) {
    Json steps = Json::array();
    for (const std::vector<KernelChoice>* choices : {&plan.kernels, &plan.others}) {
      for (const KernelChoice& choice : *choices) {
        const bool alone = choice.next.empty();
        steps.push_back({{"name", choice.step},
                         {"problem", choice.problem},
                         {"kernel", choice.kernel},
                         {"ms", choice.ms},
                         {"next", alone ? Json(nullptr) : Json(choice.next)},
                         {"next_ms", alone ? Json(nullptr) : Json(choice.next_ms)},
                         {"why", choice.why}});
      }
    }
    plans.push_back({{"inputs", plan.inputs}, {"channel_lanes", plan.channel_lanes}, {"steps", std::move(steps)}});
  }
  output.json({{"model", file.model},
               {"file", path},
               {"device", name_of(file.device)},
               {"processor", file.processor},
               {"threads", file.threads},
               {"math", name_of(file.math)},
               {"mode", name_of(file.mode)},
               {"input", name_of(file.input)},
               {"batch", file.batch},
               {"images", images},
               {"planned_s", tuned.planned_s},
               {"tuned_s", tuned.tuned_s},
               {"ways", std::move(ways)},
               {"plans", std::move(plans)}});
}

void write_json(Output& output, DeviceKind device, const std::vector<TunedProblem>& problems) {
  if (!output.wants_json()) return;
  Json all = Json::array();
  for (const TunedProblem& each : problems) {
    Json kernels = Json::array();
    for (const TunedKernel& kernel : each.kernels) {
      kernels.push_back(
          {{"kernel", kernel.kernel}, {"tuning", kernel.tuning}, {"ms", kernel.ms}, {"samples", kernel.samples}});
    }
    all.push_back({{"problem", each.problem},
                   {"preferred", each.kernels[0].kernel},
                   {"fastest", each.fastest},
                   {"why", each.why},
                   {"kernels", std::move(kernels)}});
  }
  output.json({{"device", name_of(device)}, {"problems", std::move(all)}});
}

}  // namespace convlab::app
