// Writes the counts of `convlab profile --device simt --counters` as JSON.

#include "app/results/counts_json.h"

#include <nlohmann/json.hpp>

#include "convlab/warps/kernel_counts_json.h"

namespace convlab::app {
namespace {

Json to_json(const CountedKernel& counted) {
  Json json = {{"layer", counted.layer}, {"kernel", counted.kernel}};
  json.update(convlab::to_json(counted.counts));
  return json;
}

}  // namespace

void write_json(Output& output, const CountsResult& result) {
  Json kernels = Json::array();
  for (const CountedKernel& each : result.kernels) kernels.push_back(to_json(each));
  output.json(
      {{"model", result.model}, {"images", result.images}, {"device", "simt"}, {"kernels", std::move(kernels)}});
}

}  // namespace convlab::app
