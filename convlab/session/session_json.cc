// Writes a plan's steps as JSON.

#include <nlohmann/json.hpp>

#include "convlab/base/json.h"
#include "convlab/session/session.h"

namespace convlab {

std::string to_json(const std::vector<Session::Step>& steps) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Session::Step& step : steps) {
    list.push_back({{"name", step.name},
                    {"op", step.op},
                    {"kernel", step.kernel},
                    {"flops", step.flops},
                    {"seconds", step.seconds}});
  }
  return json_text(list, -1);
}

}  // namespace convlab
