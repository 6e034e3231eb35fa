// Writes the results of `convlab run` as JSON.

#include "app/results/run_json.h"

#include <nlohmann/json.hpp>

#include "app/results/file_times.h"
#include "app/usage.h"
#include "convlab/measure/machine.h"
#include "convlab/measure/record.h"

namespace convlab::app {
namespace {

Json to_json(const FileTime& time) {
  return {{"file", time.file},         {"problem", time.problem},         {"launches", time.launches},
          {"prolog_s", time.prolog_s}, {"call_s", time.call_s},           {"epilog_s", time.epilog_s},
          {"layer_s", time.layer_s},   {"computes_in_prolog", time.early}};
}

}  // namespace

Json to_json(const std::vector<LayerResult>& results) {
  Json layers = Json::array();
  for (const LayerResult& layer : results) {
    layers.push_back({{"name", layer.name},
                      {"op", layer.op},
                      {"problem", layer.problem},
                      {"kernel", layer.kernel},
                      {"op_time_s", layer.seconds},
                      {"gflops", layer.rated() ? layer.flops / layer.seconds * 1e-9 : 0.0}});
  }
  return layers;
}

std::shared_ptr<Json> run_json(const ClassifyOptions& options, const Classifier& classifier,
                               const Classification& result, const Output& output) {
  const DeviceCaps& caps = classifier.caps();
  Json devices = Json::array();
  const std::vector<int64_t> shares = classifier.model->shares(classifier.count());
  for (size_t i = 0; i < shares.size(); ++i) {
    const DeviceCaps& each = classifier.devices[i]->caps();
    devices.push_back({{"name", each.name}, {"description", each.description}, {"images", shares[i]}});
  }
  Json foldings = Json::array();
  for (const Folding& each : classifier.model->foldings()) {
    foldings.push_back({{"nodes", each.nodes}, {"folded", each.folded}, {"text", each.text}});
  }
  const Usage usage = usage_so_far();
  auto json = std::make_shared<Json>(Json{{"command", output.command()},
                                          {"lines", output.printed()},
                                          {"model", options.model},
                                          {"images", classifier.count()},
                                          {"right", result.right},
                                          {"accuracy", result.accuracy},
                                          {"device", name_of(caps.kind)},
                                          {"math", name_of(options.compute.math())},
                                          {"plan", name_of(options.plan)},
                                          {"devices", std::move(devices)},
                                          {"threads", caps.threads},
                                          {"layers", to_json(result.layers)},
                                          {"foldings", std::move(foldings)},
                                          {"network_s", result.network_seconds},
                                          {"device_network_s", result.device_network_seconds},
                                          {"load_s", classifier.load_seconds},
                                          {"total_s", usage.elapsed_s},
                                          {"user_s", usage.user_s},
                                          {"system_s", usage.system_s},
                                          {"max_rss_kb", usage.max_rss_kb},
                                          {"machine", to_json(this_machine(caps))},
                                          {"build", to_json(this_build())},
                                          {"labels", result.labels}});
  Json file_phases = Json::array();
  for (const FileTime& each : file_times()) file_phases.push_back(to_json(each));
  if (!file_phases.empty()) (*json)["file_phases"] = std::move(file_phases);
  if (const std::optional<double> share = classifier.contention.waited_share()) (*json)["waited_share"] = *share;
  return json;
}

void write_json(Output& output, const Json& run) { output.json(run); }

void write_json(Output& output, Json& run, const StageLog& log, double json_seconds) {
  Json times = Json::array();
  for (const StageTime& each : log.times()) times.push_back({{"name", name_of(each.stage)}, {"s", each.seconds}});
  run["stages"] = {{"began_monotonic_s", began_s()},
                   {"told_monotonic_s", monotonic_s()},
                   {"json_s", json_seconds},
                   {"times", std::move(times)}};
  output.json(run);
}

}  // namespace convlab::app
