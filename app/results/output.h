#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "app/results/streams.h"

namespace convlab::app {

/// Members keep the order in which they were added.
using Json = nlohmann::ordered_json;

/// Where a command's results go: text to standard output, and, with --json FILE, the same as JSON to FILE. `--json -`
/// puts the JSON on standard output and the text nowhere.
class Output {
 public:
  /// `json_path`: the value of --json, "" for none. `command`: the arguments that asked for the results, without
  /// --json: "m2.1 1000". Error(bad_input) where the file could not be written later.
  explicit Output(std::string json_path, std::string command = "");

  /// Writes to standard output at once, so that a pipe sees each line when it is done.
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    const std::string text = fmt::format(format, std::forward<Args>(args)...);
    if (json_path_ != "-" && !quiet_) write(text);
    printed_ += text;
  }

  /// All text so far, even if the JSON took its place.
  const std::string& printed() const { return printed_; }

  const std::string& command() const { return command_; }

  bool wants_json() const { return !json_path_.empty(); }
  const std::string& json_path() const { return json_path_; }

  /// From now on the JSON goes to another file.
  void write_json_to(std::string path) { json_path_ = std::move(path); }

  /// From now on standard output gets nothing; printed() goes on.
  void say_nothing() { quiet_ = true; }

  /// Writes the JSON, if asked for. Call it once, before throwing Error(wrong_result).
  void json(const Json& results);

  /// Writes what there is so far, where json() will replace it: the file is whole at any time. Writes nothing to
  /// standard output, a pipe or a device.
  void json_so_far(const Json& results);

 private:
  static void write(std::string_view text);

  std::string json_path_, command_, printed_;
  bool quiet_ = false;
};

/// Error(bad_input) that names the option if the file could not be written: a run may take minutes, so call it first.
void require_writable(const std::string& option, const std::filesystem::path& path);

/// A line on standard error: "convlab: note: ...".
template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(messages_stream(), "convlab: note: {}\n", fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace convlab::app
