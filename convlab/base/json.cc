// Parses and writes JSON text, with limits for untrusted input.

#include "convlab/base/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/base/text.h"

namespace convlab {

using Json = nlohmann::ordered_json;

Json parse_json(std::string_view text, const std::string& place) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::string_view before = text.substr(0, std::min(error.byte, text.size()));
    throw bad_input("{}: invalid JSON at line {}, byte {}: {}", place, 1 + std::ranges::count(before, '\n'), error.byte,
                    error.what());
  }
}

namespace {

/// Counts the values that a parser reads, and removes the elements of streamed arrays.
class ForeignReader {
 public:
  using Event = Json::parse_event_t;
  using Each = std::function<void(std::string_view name, const Json& element)>;

  ForeignReader(const std::string& place, const JsonLimits& limits, std::initializer_list<std::string_view> streams,
                const Each& each)
      : place_(place), limits_(limits), streams_(streams), each_(each) {}

  /// Returns false if the parser should drop the value.
  bool keeps(size_t depth, Event event, const Json& value) {
    constexpr size_t kOfMembers = 1, kOfElements = 2;
    const bool begins = event == Event::object_start || event == Event::array_start;
    if (begins && depth >= limits_.depth)
      throw bad_input("{}: JSON is nested deeper than {} levels", place_, limits_.depth);
    if (event != Event::object_end && event != Event::array_end && ++values_ > limits_.values) {
      throw bad_input("{}: JSON has more than {} values", place_, limits_.values);
    }
    if (event == Event::object_start) members_[depth + 1] = 0;
    if (event == Event::key && ++members_[depth] > limits_.members) {
      throw bad_input("{}: a JSON object has more than {} members", place_, limits_.members);
    }
    if (depth == 0 && event != Event::object_start && event != Event::object_end) {
      throw bad_input("{}: expected a JSON object", place_);
    }
    if (depth == kOfMembers) {
      if (event == Event::key) name_ = value.get<std::string>();
      if (event != Event::key) streaming_ = event == Event::array_start && is_streamed();
    }
    if (!streaming_ || depth != kOfElements) return true;
    if (event == Event::value || event == Event::array_start) {
      throw bad_input("{}: elements of '{}' must be JSON objects", place_, name_);
    }
    if (event != Event::object_end) return true;
    each_(name_, value);
    values_ = 0;
    return false;
  }

 private:
  bool is_streamed() const { return std::ranges::find(streams_, name_) != streams_.end(); }

  const std::string& place_;
  const JsonLimits& limits_;
  const std::initializer_list<std::string_view> streams_;
  const Each& each_;
  std::string name_;  // of the current member of the outermost object
  bool streaming_ = false;
  size_t values_ = 0;
  std::vector<size_t> members_ = std::vector<size_t>(limits_.depth + 1);  // of the open objects, by depth
};

}  // namespace

Json parse_foreign_json(std::string_view text, const std::string& place, const JsonLimits& limits,
                        std::initializer_list<std::string_view> streams,
                        const std::function<void(std::string_view name, const Json& element)>& each) {
  ForeignReader reader(place, limits, streams, each);
  try {
    return Json::parse(text, [&](int depth, Json::parse_event_t event, const Json& value) {
      return reader.keeps(static_cast<size_t>(depth), event, value);
    });
  } catch (const Json::exception& error) {  // not only parse_error: numbers that overflow double throw out_of_range
    throw bad_input("{}: invalid JSON: {}", place, printable(error.what()));
  }
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace convlab
