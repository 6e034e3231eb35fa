// Writes the results of `convlab compare` as JSON.

#include "app/results/compare_json.h"

#include <nlohmann/json.hpp>

namespace convlab::app {

void write_json(Output& output, const std::string& a, const std::string& b, const std::vector<ComparedLayer>& layers) {
  if (!output.wants_json()) return;
  Json list = Json::array();
  Json first = nullptr;
  for (const ComparedLayer& layer : layers) {
    if (first.is_null() && !layer.reason.empty()) first = layer.name;
    list.push_back({{"name", layer.name},
                    {"value", layer.value},
                    {"op", layer.op},
                    {"shape", layer.shape},
                    {"math", layer.math ? Json(name_of(*layer.math)) : Json(nullptr)},
                    {"here", layer.here ? Json(*layer.here) : Json(nullptr)},
                    {"limit", layer.limit},
                    {"so_far", layer.so_far},
                    {"worst_element", layer.worst},
                    {"got", layer.got},
                    {"expected", layer.expected},
                    {"reason", layer.reason}});
  }
  output.json({{"a", a}, {"b", b}, {"layers", std::move(list)}, {"first_wrong", std::move(first)}});
}

}  // namespace convlab::app
