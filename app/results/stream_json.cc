// Writes the results of `convlab infer --stream` as JSON.

#include "app/results/stream_json.h"

#include <nlohmann/json.hpp>

namespace convlab::app {

double rate_of(int64_t images, double seconds) { return seconds > 0 ? static_cast<double>(images) / seconds : 0; }

void write_json(Output& output, const StreamResult& result, const Share& share, int64_t all_images) {
  if (!output.wants_json()) return;
  Json json{{"model", result.model},
            {"input", result.input},
            {"input_shape", result.input_shape},
            {"output", result.output},
            {"output_shape", result.output_shape},
            {"device", name_of(result.device.kind)},
            {"math", name_of(result.math)},
            {"plan", name_of(result.plan)},
            {"threads", result.device.threads},
            {"batch", result.batch},
            {"chunk", result.chunk},
            {"images", result.images},
            {"resumed", result.resumed},
            {"load_s", result.load_seconds},
            {"seconds", result.seconds},
            {"engine_s", result.engine_seconds},
            {"images_per_s", rate_of(result.images, result.seconds)},
            {"engine_images_per_s", rate_of(result.images, result.engine_seconds)},
            {"memory_before_kb", result.memory_before_kb},
            {"memory_most_kb", result.memory_most_kb}};
  share.add_to(json, all_images, result.device.name);
  output.json(json);
}

}  // namespace convlab::app
