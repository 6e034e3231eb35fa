#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "convlab/base/error.h"

namespace convlab {

/// Reads the members of one JSON object by name. What is missing or of another type is Error(bad_input) that names the
/// place ("results/x.json, entry 3.machine") and the member. The JSON must outlive it.
class JsonMembers {
 public:
  using Json = nlohmann::ordered_json;

  JsonMembers(const Json& json, std::string place) : json_(json), place_(std::move(place)) {
    if (!json_.is_object()) throw bad_input("{}: is no object", place_);
  }

  const std::string& place() const { return place_; }
  bool has(const char* name) const { return json_.contains(name); }

  JsonMembers object(const char* name) const { return {member(name), place_ + "." + name}; }

  /// Calls `each` with every entry of an array of objects.
  template <class Each>
  void objects(const char* name, Each each) const {
    const Json& array = member(name);
    require(array.is_array(), name, "a list");
    for (size_t i = 0; i < array.size(); ++i) {
      each(JsonMembers(array[i], place_ + "." + name + "[" + std::to_string(i) + "]"));
    }
  }

  /// Calls `each` with the name and value of every member, all of which must be numbers.
  template <class Each>
  void numbers(Each each) const {
    for (const auto& [name, value] : json_.items()) {
      require(value.is_number(), name.c_str(), "a number");
      each(name, value.template get<double>());
    }
  }

  /// Calls `each` with the name and content of every member, all of which must be objects.
  template <class Each>
  void each_object(Each each) const {
    for (const auto& [name, value] : json_.items()) each(name, JsonMembers(value, place_ + "." + name));
  }

  template <class T>
  void read(const char* name, T& value) const {
    const Json& found = member(name);
    if constexpr (std::is_same_v<T, std::string>) {
      require(found.is_string(), name, "a text");
    } else if constexpr (std::is_arithmetic_v<T>) {
      require(found.is_number(), name, "a number");
    }
    if constexpr (std::is_integral_v<T>) require_whole<T>(found, name);
    try {
      value = found.get<T>();
    } catch (const Json::exception& error) {
      throw bad_input("{}: '{}' is not what it should be: {}", place_, name, error.what());
    }
  }

  /// A member that is an object whose members are all of one type.
  template <class T>
  void read(const char* name, std::map<std::string, T>& values) const {
    const JsonMembers members = object(name);
    values.clear();
    for (const auto& [key, value] : members.json_.items()) members.read(key.c_str(), values[key]);
  }

  /// A member that may be absent.
  template <class T>
  void read(const char* name, std::optional<T>& value) const {
    if (has(name)) read(name, value.emplace());
  }

  /// A member that, where it is absent, leaves `value` as it is.
  template <class T>
  void read_if_there(const char* name, T& value) const {
    if (has(name)) read(name, value);
  }

  /// One of the values that name_of() names.
  template <class T>
  T choice(const char* name, std::initializer_list<T> all) const {
    std::string text;
    read(name, text);
    for (const T each : all) {
      if (name_of(each) == text) return each;
    }
    throw bad_input("{}: '{}' cannot be '{}'", place_, name, text);
  }

 private:
  const Json& member(const char* name) const {
    const auto found = json_.find(name);
    if (found == json_.end()) throw bad_input("{}: has no '{}'", place_, name);
    return *found;
  }

  /// A conversion of what does not fit would be undefined.
  template <class T>
  void require_whole(const Json& number, const char* name) const {
    bool fits = false;
    if (number.is_number_unsigned()) {
      fits = std::in_range<T>(number.get<uint64_t>());
    } else if (number.is_number_integer()) {
      fits = std::in_range<T>(number.get<int64_t>());
    } else {
      // 2^digits is the first number beyond T, and exact, unlike the largest of T.
      const auto value = number.get<double>();
      const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
      fits = value < beyond && value >= (std::is_signed_v<T> ? -beyond : 0.0) && value == std::trunc(value);
    }
    if (fits) return;
    throw bad_input("{}: '{}' is {}, not a whole number from {} to {}", place_, name, number.dump(),
                    std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  }

  void require(bool condition, const char* name, const char* what) const {
    if (!condition) throw bad_input("{}: '{}' is not {}", place_, name, what);
  }

  const Json& json_;
  std::string place_;
};

}  // namespace convlab
