#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace convlab {

// Reading and writing JSON's text, compiled once: in each file that did so it took the compiler seconds.

/// Error(bad_input) that names `place`, with line and byte, where the text is not JSON.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& place);

/// How much of a text of somebody's whom we do not trust is in memory at once.
struct JsonLimits {
  size_t values = 1000;  ///< numbers, texts, objects, arrays and names of members
  size_t members = 100;  ///< of an object
  size_t depth = 10;     ///< of objects and arrays in each other
};

/// The object that such a text holds, without the elements of the arrays that are members of it and named in `streams`:
/// each of these, an object, is handed to `each` with the array's name, and dropped. Error(bad_input) that names
/// `place` where the text is no JSON, no object, or passes a limit, which holds for each element by itself.
nlohmann::ordered_json parse_foreign_json(
    std::string_view text, const std::string& place, const JsonLimits& limits,
    std::initializer_list<std::string_view> streams = {},
    const std::function<void(std::string_view name, const nlohmann::ordered_json& element)>& each = {});

/// In one line where `indent` is -1. Names come from models' files and need not be UTF-8: other bytes are replaced.
std::string json_text(const nlohmann::ordered_json& json, int indent);

}  // namespace convlab
