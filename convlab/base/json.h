#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace convlab {

// Parses and writes JSON text. Compiled once, because it adds seconds to the compile time of each file that does it.

/// Parses JSON. Throws Error(bad_input) with `place`, line and byte if the text is not JSON.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& place);

/// Limits on the part of an untrusted JSON text that is in memory at once.
struct JsonLimits {
  size_t values = 1000;  ///< numbers, strings, objects, arrays and member names
  size_t members = 100;  ///< members of an object
  size_t depth = 10;     ///< nesting of objects and arrays
};

/// Parses an untrusted JSON object. Members named in `streams` are arrays of objects: each element is passed to `each`
/// with the member's name and left out of the result. Throws Error(bad_input) with `place` if the text is not JSON, not
/// an object, or exceeds a limit; the limits apply to each streamed element separately.
nlohmann::ordered_json parse_foreign_json(
    std::string_view text, const std::string& place, const JsonLimits& limits,
    std::initializer_list<std::string_view> streams = {},
    const std::function<void(std::string_view name, const nlohmann::ordered_json& element)>& each = {});

/// Writes JSON; on one line if `indent` is -1. Strings may come from model files, so bytes that are not UTF-8 are
/// replaced.
std::string json_text(const nlohmann::ordered_json& json, int indent);

}  // namespace convlab
