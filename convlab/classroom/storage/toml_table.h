#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/base/error.h"

namespace convlab::classroom {

/// A table of a TOML file. Any error is an Error(bad_input) that names the file, the line and the key.
class TomlTable {
 public:
  /// `place` is the file name in messages.
  static TomlTable parse(const std::string& text, const std::string& place);
  static TomlTable read_file(const std::filesystem::path& path);

  bool has(const std::string& key) const;

  // A missing key leaves the value unchanged.
  void read(const std::string& key, std::string& value) const;
  void read(const std::string& key, bool& value) const;
  void read(const std::string& key, int64_t& value, int64_t low, int64_t high) const;
  void read(const std::string& key, double& value, double low, double high) const;
  void read(const std::string& key, std::vector<std::string>& values) const;

  /// Reads a date and time as seconds since 1970; without an offset it is in this machine's local time.
  void read_time(const std::string& key, std::optional<double>& value) const;

  /// Reads one of the values in `all`, by the name that name_of() returns.
  template <class T>
  void read_choice(const std::string& key, T& value, std::initializer_list<T> all) const {
    std::string text(name_of(value)), names;
    read(key, text);
    for (const T each : all) {
      if (name_of(each) == text) {
        value = each;
        return;
      }
      names += (names.empty() ? "" : ", ") + std::string(name_of(each));
    }
    throw error(key, fmt::format("must be one of {}, got '{}'", names, text));
  }

  std::optional<TomlTable> table(const std::string& key) const;
  std::vector<TomlTable> tables(const std::string& key) const;  ///< [[key]], empty if it is missing

  /// Throws if the table has a key that is not in `keys`.
  void require_only(const std::vector<std::string>& keys) const;

  /// Returns an Error such as "class.toml:12: deadline: must be ...".
  Error error(const std::string& key, const std::string& what) const;

 private:
  struct Content;
  explicit TomlTable(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

  std::shared_ptr<const Content> content_;
};

}  // namespace convlab::classroom
