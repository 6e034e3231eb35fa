#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "convlab/base/error.h"

namespace convlab {

/// Reads the members of one JSON object by name. If a member is missing or of another type, throws Error(bad_input)
/// with the location ("results/x.json, entry 3.machine") and the member's name. The JSON must outlive this object.
class JsonMembers {
 public:
  using Json = nlohmann::ordered_json;

  JsonMembers(const Json& json, std::string place);

  const std::string& place() const { return place_; }
  bool has(const char* name) const;

  JsonMembers object(const char* name) const { return {member(name), place_ + "." + name}; }

  /// Calls `each` for every entry of an array of objects.
  void objects(const char* name, const std::function<void(const JsonMembers& entry)>& each) const;

  /// Calls `each` with the name and value of every member; all must be numbers.
  void numbers(const std::function<void(const std::string& name, double value)>& each) const;

  /// Calls `each` with the name and content of every member; all must be objects.
  void each_object(const std::function<void(const std::string& name, const JsonMembers& content)>& each) const;

  void read(const char* name, std::string& value) const;
  void read(const char* name, double& value) const;
  void read(const char* name, bool& value) const;
  void read(const char* name, int& value) const;
  void read(const char* name, int64_t& value) const;
  void read(const char* name, uint32_t& value) const;
  void read(const char* name, std::vector<std::string>& values) const;
  void read(const char* name, std::vector<double>& values) const;
  void read(const char* name, std::map<std::string, int>& values) const;

  /// Reads the name of a kernel, which may be a former one (kernels/former_names.h), as its present name.
  void read_kernel_name(const char* name, std::string& value) const;

  /// Reads a member that may be absent.
  template <class T>
  void read(const char* name, std::optional<T>& value) const {
    if (has(name)) read(name, value.emplace());
  }

  /// Reads a member that may be absent: then `value` keeps its value.
  template <class T>
  void read_if_there(const char* name, T& value) const {
    if (has(name)) read(name, value);
  }

  /// Returns the value of `all` whose name_of() is the member's text.
  template <class T>
  T choice(const char* name, std::initializer_list<T> all) const {
    std::string text;
    read(name, text);
    for (const T each : all) {
      if (name_of(each) == text) return each;
    }
    throw bad_input("{}: '{}' has the unknown value '{}'", place_, name, text);
  }

 private:
  const Json& member(const char* name) const;

  void require(bool condition, const char* name, const char* what) const;

  const Json& json_;
  std::string place_;
};

}  // namespace convlab
