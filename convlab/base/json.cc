#include "convlab/base/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convlab/base/error.h"

namespace convlab {

using Json = nlohmann::ordered_json;

Json parse_json(std::string_view text, const std::string& place) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::string_view before = text.substr(0, std::min(error.byte, text.size()));
    throw bad_input("{}: is not JSON, line {}, byte {}: {}", place, 1 + std::ranges::count(before, '\n'), error.byte,
                    error.what());
  }
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace convlab
