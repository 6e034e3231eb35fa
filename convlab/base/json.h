#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace convlab {

// Reading and writing JSON's text, compiled once: in each file that did so it took the compiler seconds.

/// Error(bad_input) that names `place`, with line and byte, where the text is not JSON.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& place);

/// In one line where `indent` is -1. Names come from models' files and need not be UTF-8: other bytes are replaced.
std::string json_text(const nlohmann::ordered_json& json, int indent);

}  // namespace convlab
