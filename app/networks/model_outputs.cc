// Writes a model's outputs to files.

#include "app/networks/model_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/results/output.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/tensor/npy.h"
#include "convlab/tensor/npz.h"

namespace convlab::app {

namespace fs = std::filesystem;

namespace {

bool is_one_file(const std::string& output) { return fs::path(output).has_extension() && !fs::is_directory(output); }

bool is_archive(const std::string& output) { return is_one_file(output) && fs::path(output).extension() == ".npz"; }

/// Makes names unique: a second "y" becomes "y.2".
std::vector<std::string> made_unique(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) {
    std::string each = name;
    for (int copy = 2; std::ranges::find(all, each) != all.end(); ++copy) each = fmt::format("{}.{}", name, copy);
    all.push_back(std::move(each));
  }
  return all;
}

/// Returns a name for use as a file name: no path separators, not empty, and no leading dot.
std::string file_name(const std::string& name) {
  return name.empty() || name[0] == '.' ? "_" + without_folders(name) : without_folders(name);
}

std::vector<std::string> output_files(const std::vector<std::string>& names, const std::string& output) {
  if (output.empty() || is_archive(output)) return std::vector<std::string>(names.size(), output);
  const bool folder = fs::is_directory(output) || output.ends_with('/');
  if (names.size() > 1 && !folder && fs::path(output).has_extension()) {
    const std::string stem = fs::path(output).stem().string();
    throw bad_input("{}: the model has {} outputs; use a folder, for example {}/, or {}.npz", output, names.size(),
                    stem, stem);
  }
  if (names.size() == 1 && !folder) return {output};
  std::vector<std::string> files;
  for (const std::string& name : names) files.push_back(file_name(name));
  files = made_unique(files);
  for (std::string& file : files) file = fs::path(output) / fmt::format("{}.npy", file);
  return files;
}

}  // namespace

std::string without_folders(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == '/' || c == '\\' || c == ':'; }, '_');
  return name;
}

OutputPlaces::OutputPlaces(const Graph& graph, const std::string& output) : archive_(is_archive(output)) {
  for (const GraphOutput& each : graph.outputs) names_.push_back(graph.name_of(each));
  files_ = output_files(names_, output);
  if (files_[0] != output) folder_ = output;
}

void OutputPlaces::write(std::vector<Tensor> outputs) const {
  if (archive_) {
    const std::vector<std::string> names = made_unique(names_);
    std::vector<NamedTensor> arrays;
    for (size_t i = 0; i < outputs.size(); ++i) arrays.push_back({names[i], std::move(outputs[i])});
    return write_file(files_[0], to_npz(arrays));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (files_[i].empty()) continue;
    if (!folder_.empty()) fs::create_directories(folder_);
    write_file(files_[i], to_npy(outputs[i]));
  }
}

void require_output(const std::string& output) {
  if (!is_one_file(output)) return;
  require_ending("--output", output, {".npy", ".npz"});
  require_writable("--output", output);
}

}  // namespace convlab::app
