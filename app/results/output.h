#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/results/output_streams.h"

namespace convlab::app {

/// Members keep the order in which they were added.
using Json = nlohmann::ordered_json;

/// The results of a command: text on standard output, and, with --json FILE, also JSON in FILE. `--json -` writes the
/// JSON to standard output instead of the text.
class Output {
 public:
  /// `json_path`: the value of --json, "" for none. `command`: the command's arguments without --json: "m2.1 1000".
  /// Throws Error(bad_input) if the file cannot be written.
  explicit Output(std::string json_path, std::string command = "");

  /// Writes to standard output and flushes, so that a pipe gets each line immediately.
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    const std::string text = fmt::format(format, std::forward<Args>(args)...);
    if (json_path_ != "-" && !quiet_) write(text);
    printed_ += text;
  }

  /// Returns all text so far, even if it was not written to standard output.
  const std::string& printed() const { return printed_; }

  const std::string& command() const { return command_; }

  bool wants_json() const { return !json_path_.empty(); }
  const std::string& json_path() const { return json_path_; }

  /// Redirects the JSON to another file.
  void write_json_to(std::string path) { json_path_ = std::move(path); }

  /// Suppresses the text on standard output from now on; printed() still collects it.
  void say_nothing() { quiet_ = true; }

  /// Writes the JSON, if asked for. Call it once, before throwing Error(wrong_result).
  void json(const Json& results);

  /// Writes preliminary results, which json() will replace; the file is complete at any time. Does nothing if the JSON
  /// goes to standard output, a pipe or a device.
  void json_so_far(const Json& results);

 private:
  static void write(std::string_view text);

  std::string json_path_, command_, printed_;
  bool quiet_ = false;
};

/// Throws Error(bad_input), which names the option, if the file cannot be written. Call it first: a run may take
/// minutes.
void require_writable(const std::string& option, const std::filesystem::path& path);

/// Throws Error(bad_input), which names the option, unless the file's name ends in one of `endings`, such as ".svg". A
/// device may have any name.
void require_ending(const std::string& option, const std::filesystem::path& path,
                    const std::vector<std::string>& endings);

/// Throws Error(bad_input), which names the option, if both paths lead to one file: writing would destroy the input.
void require_other_file(const std::string& option, const std::filesystem::path& path,
                        const std::filesystem::path& input);

/// Prints a line to standard error: "convlab: note: ...".
template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(messages_stream(), "convlab: note: {}\n", fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace convlab::app
