// Writes results to standard output and to JSON files.

#include "app/results/output.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "app/results/output_streams.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"

namespace convlab::app {
void require_writable(const std::string& option, const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw bad_input("{} {} is a directory, not a file", option, path.string());
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(parent, error)) {
    throw bad_input("{}: cannot write {}: directory {} does not exist", option, path.string(), parent.string());
  }
  // Replacing a file needs permission to write to its folder; writing to a device needs it for the device.
  const std::filesystem::path& written = std::filesystem::is_regular_file(path, error) ? parent : path;
  const std::filesystem::path& checked = std::filesystem::exists(written, error) ? written : parent;
  if (::access(checked.c_str(), W_OK) != 0) {
    throw bad_input("{}: cannot write {}: {}", option, path.string(), std::strerror(errno));
  }
}

void require_ending(const std::string& option, const std::filesystem::path& path,
                    const std::vector<std::string>& endings) {
  std::error_code error;
  const bool is_device = std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
  if (is_device || std::ranges::find(endings, path.extension().string()) != endings.end()) return;
  throw bad_input("{}: expected a file name that ends in {}, got {}", option, fmt::join(endings, " or "),
                  path.string());
}

void require_other_file(const std::string& option, const std::filesystem::path& path,
                        const std::filesystem::path& input) {
  std::error_code error;  // a shipped model's name is not a file
  if (std::filesystem::equivalent(path, input, error))
    throw bad_input("{} {}: this is the input file {}; choose another name", option, path.string(), input.string());
}

Output::Output(std::string json_path, std::string command)
    : json_path_(std::move(json_path)), command_(std::move(command)) {
  if (wants_json() && json_path_ != "-") require_writable("--json", json_path_);
}

void Output::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), results_stream()) != text.size() || std::fflush(results_stream()) != 0) {
    throw bad_input("cannot write to standard output: {}", std::strerror(errno));
  }
}

void Output::json_so_far(const Json& results) {
  std::error_code error;
  const auto status = std::filesystem::status(json_path_, error);
  if (json_path_ == "-") return;
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) json(results);
}

void Output::json(const Json& results) {
  if (!wants_json()) return;
  const std::string text = json_text(results, 2) + "\n";
  if (json_path_ == "-") {
    write(text);
  } else {
    write_file(json_path_, text);
  }
}

}  // namespace convlab::app
