#include "app/course_lines.h"

#include <fmt/format.h>

#include "app/usage.h"
#include "convlab/measure/machine.h"
#include "convlab/measure/record.h"

namespace convlab::app {

std::string python_repr(double value) {
  std::string text = fmt::format("{}", value);  // the shortest that reads back as the same number, as in Python
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

void print_op_times(Output& output, const Classification& result) {
  for (const LayerResult& layer : result.layers) {
    if (!layer.problem.empty()) output.print("Op Time: {:.6f}\n", layer.seconds);
  }
}

void print_correctness(Output& output, const Classification& result, const std::string& course_model) {
  output.print("Correctness: {} Model: {}\n", python_repr(result.accuracy), course_model);
}

void print_eval_metric(Output& output, const Classification& result) {
  output.print("EvalMetric: {{'accuracy': {}}}\n", python_repr(result.accuracy));
}

Json to_json(const ClassifyOptions& options, const Classifier& classifier, const Classification& result,
             const Output& output) {
  const DeviceCaps& caps = classifier.caps();
  Json layers = Json::array();
  for (const LayerResult& layer : result.layers) {
    layers.push_back({{"name", layer.name},
                      {"op", layer.op},
                      {"problem", layer.problem},
                      {"kernel", layer.kernel},
                      {"op_time_s", layer.seconds},
                      {"gflops", layer.seconds > 0 ? layer.flops / layer.seconds * 1e-9 : 0.0}});
  }
  Json devices = Json::array();
  const std::vector<int64_t> shares = classifier.engines->shares(classifier.count());
  for (size_t i = 0; i < shares.size(); ++i) {
    const DeviceCaps& each = classifier.devices[i]->caps();
    devices.push_back({{"name", each.name}, {"description", each.description}, {"images", shares[i]}});
  }
  Json foldings = Json::array();
  for (const Folding& each : classifier.engines->first().foldings()) {
    foldings.push_back({{"nodes", each.nodes}, {"folded", each.folded}, {"text", each.text}});
  }
  const Usage usage = usage_so_far();
  return {{"command", output.command()},
          {"lines", output.printed()},
          {"model", options.model},
          {"images", classifier.count()},
          {"accuracy", result.accuracy},
          {"device", name_of(caps.kind)},
          {"math", name_of(options.compute.math())},
          {"plan", name_of(options.plan)},
          {"devices", std::move(devices)},
          {"threads", caps.threads},
          {"layers", std::move(layers)},
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
          {"labels", result.labels}};
}

}  // namespace convlab::app
