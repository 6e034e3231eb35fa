// Writes the results of verify, list, infer, convert and report as JSON.

#include "app/results/results_json.h"

#include <nlohmann/json.hpp>

#include "app/results/run_json.h"
#include "convlab/kernels/step_text.h"

namespace convlab::app {
namespace {

Json to_json(const VerifiedCase& each) {
  Json json{{"kernel", each.kernel->info.name},
            {"problem", problem_text(each.step)},
            {"epilogue", to_text(each.step.epilogue)},
            {"input", name_of(each.step.inputs[0].format.type)},
            {"result", name_of(each.result.outcome)}};
  if (each.result.outcome == Outcome::passed) {
    json["relative_l2"] = each.result.relative_l2;
  } else {
    json["reason"] = each.result.reason;
  }
  return json;
}

}  // namespace

void write_json(Output& output, const std::string& device, const std::vector<VerifiedCase>& cases,
                const std::array<int64_t, 3>& counts) {
  Json all = Json::array();
  for (const VerifiedCase& each : cases) all.push_back(to_json(each));
  const auto [passed, failed, skipped] = counts;
  output.json(
      {{"device", device}, {"cases", std::move(all)}, {"passed", passed}, {"failed", failed}, {"skipped", skipped}});
}

void write_json(Output& output, const Listing& listing) {
  Json json = Json::object();
  for (const KernelInfo& info : listing.kernels) {
    json["kernels"].push_back({{"name", info.name},
                               {"device", name_of(info.device)},
                               {"family", name_of(info.family)},
                               {"rung", info.rung},
                               {"math", name_of(info.math)},
                               {"idea", info.idea}});
  }
  for (const ShippedModel& model : listing.models) {
    json["models"].push_back(
        {{"name", model.name}, {"input", convlab::to_text(model.input)}, {"accuracy", model.accuracy}});
  }
  for (const DeviceListing& device : listing.devices) {
    json["devices"].push_back({{"name", device.name}, {"description", device.description}});
  }
  output.json(json);
}

void write_json(Output& output, const InferResult& result, const Share& share, int64_t all_images) {
  if (!output.wants_json()) return;
  const auto arrays = [](const std::vector<NamedArray>& all) {
    Json json = Json::array();
    for (const NamedArray& each : all)
      json.push_back({{"name", each.name}, {"file", each.file}, {"shape", each.shape}});
    return json;
  };
  Json json{{"model", result.model},
            {"input", result.inputs[0].file},
            {"input_shape", result.inputs[0].shape},
            {"output", result.outputs[0].file},
            {"output_shape", result.outputs[0].shape},
            {"inputs", arrays(result.inputs)},
            {"outputs", arrays(result.outputs)},
            {"device", name_of(result.device.kind)},
            {"math", name_of(result.math)},
            {"plan", name_of(result.plan)},
            {"threads", result.device.threads},
            {"layers", to_json(result.layers)},
            {"network_s", result.network_seconds},
            {"device_network_s", result.device_network_seconds},
            {"load_s", result.load_seconds},
            {"memory_before_kb", result.memory_before_kb},
            {"memory_most_kb", result.memory_most_kb}};
  for (const std::vector<TopClass>& image : result.top) {
    Json& classes = json["top"].emplace_back(Json::array());
    for (const TopClass& each : image) {
      Json& found = classes.emplace_back(Json{{"class", each.number}, {"score", each.score}});
      if (!each.label.empty()) found["label"] = each.label;
    }
  }
  share.add_to(json, all_images, result.device.name);
  output.json(json);
}

void write_json(Output& output, const ConvertResult& result) {
  output.json({{"model", result.model}, {"output", result.output}, {"layers", result.layers}, {"bytes", result.bytes}});
}

void write_json(Output& output, const std::string& path, const ReportInput& input, const Report& page) {
  Json json{{"report", path}, {"semester", input.semester}, {"records", input.evidence.records.size()}};
  json["deliverables"] = Json::array();
  for (const Deliverable& each : page.deliverables) {
    json["deliverables"].push_back({{"what", each.what}, {"there", each.there}, {"commands", each.commands}});
  }
  output.json(json);
}

}  // namespace convlab::app
