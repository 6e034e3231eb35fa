// Reads and checks the members of JSON objects.

#include "convlab/measure/json_members.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "convlab/base/json.h"
#include "convlab/kernels/former_names.h"

namespace convlab {
namespace {

/// Returns the number as T; JSON has only one number type. Throws Error(bad_input) if it is not whole or out of T's
/// range, since converting it would be undefined.
template <class T>
T whole(const JsonMembers::Json& number, const std::string& place, const char* name) {
  if (!number.is_number()) throw bad_input("{}: '{}' must be a number", place, name);
  bool fits = false;
  if (number.is_number_unsigned()) {
    fits = std::in_range<T>(number.get<uint64_t>());
  } else if (number.is_number_integer()) {
    fits = std::in_range<T>(number.get<int64_t>());
  } else {
    // 2^digits is the first number above T's range. Unlike T's maximum, it is exact as a double.
    const auto value = number.get<double>();
    const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
    fits = value < beyond && value >= (std::is_signed_v<T> ? -beyond : 0.0) && value == std::trunc(value);
  }
  if (fits) return number.get<T>();
  throw bad_input("{0}: '{1}' must be an integer between {3} and {4}, got {2}", place, name, json_text(number, -1),
                  std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

}  // namespace

JsonMembers::JsonMembers(const Json& json, std::string place) : json_(json), place_(std::move(place)) {
  if (!json_.is_object()) throw bad_input("{}: expected a JSON object", place_);
}

bool JsonMembers::has(const char* name) const { return json_.contains(name); }

void JsonMembers::objects(const char* name, const std::function<void(const JsonMembers& entry)>& each) const {
  const Json& array = member(name);
  require(array.is_array(), name, "a list");
  for (size_t i = 0; i < array.size(); ++i) {
    each(JsonMembers(array[i], place_ + "." + name + "[" + std::to_string(i) + "]"));
  }
}

void JsonMembers::numbers(const std::function<void(const std::string& name, double value)>& each) const {
  for (const auto& [name, value] : json_.items()) {
    require(value.is_number(), name.c_str(), "a number");
    each(name, value.get<double>());
  }
}

void JsonMembers::each_object(
    const std::function<void(const std::string& name, const JsonMembers& content)>& each) const {
  for (const auto& [name, value] : json_.items()) each(name, JsonMembers(value, place_ + "." + name));
}

void JsonMembers::read(const char* name, std::string& value) const {
  const Json& found = member(name);
  require(found.is_string(), name, "a string");
  value = found.get<std::string>();
}

void JsonMembers::read(const char* name, double& value) const {
  const Json& found = member(name);
  require(found.is_number(), name, "a number");
  value = found.get<double>();
}

void JsonMembers::read(const char* name, bool& value) const {
  const Json& json = member(name);
  require(json.is_boolean(), name, "true or false");
  value = json.get<bool>();
}

void JsonMembers::read(const char* name, int& value) const { value = whole<int>(member(name), place_, name); }

void JsonMembers::read(const char* name, int64_t& value) const { value = whole<int64_t>(member(name), place_, name); }

void JsonMembers::read(const char* name, uint32_t& value) const { value = whole<uint32_t>(member(name), place_, name); }

void JsonMembers::read(const char* name, std::vector<std::string>& values) const {
  const Json& found = member(name);
  require(found.is_array() && std::ranges::all_of(found, &Json::is_string), name, "a list of strings");
  values = found.get<std::vector<std::string>>();
}

void JsonMembers::read(const char* name, std::vector<double>& values) const {
  const Json& found = member(name);
  require(found.is_array() && std::ranges::all_of(found, &Json::is_number), name, "a list of numbers");
  values = found.get<std::vector<double>>();
}

void JsonMembers::read(const char* name, std::map<std::string, int>& values) const {
  const JsonMembers members = object(name);
  values.clear();
  for (const auto& entry : members.json_.items()) members.read(entry.key().c_str(), values[entry.key()]);
}

void JsonMembers::read_kernel_name(const char* name, std::string& value) const {
  read(name, value);
  value = present_name(value);
}

const JsonMembers::Json& JsonMembers::member(const char* name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) throw bad_input("{}: member '{}' is missing", place_, name);
  return *found;
}

void JsonMembers::require(bool condition, const char* name, const char* what) const {
  if (!condition) throw bad_input("{}: '{}' must be {}", place_, name, what);
}

}  // namespace convlab
