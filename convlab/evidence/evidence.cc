// Reads saved measurements of all kinds for reports.

#include "convlab/evidence/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/measure/json_members.h"

namespace convlab {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostBytes = int64_t{256} << 20;

/// Adds the JSON if it is of a kind that reports show, and returns whether it is.
bool add_known(Evidence& evidence, const Json& json, const std::string& file) {
  const auto all = [&](std::initializer_list<const char*> names) {
    return json.is_object() && std::ranges::all_of(names, [&](const char* name) { return json.contains(name); });
  };
  std::string content;
  if (json.is_array()) {
    for (size_t i = 0; i < json.size(); ++i) {
      evidence.records.push_back(record_from_json(json[i], fmt::format("{}, entry {}", file, i)));
    }
    content = fmt::format("{} Records", json.size());
  } else if (all({"summary", "startup"})) {
    const JsonMembers from(json, file);
    evidence.profiles.push_back(saved_profile_from_json(from));
    const SavedProfile& profile = evidence.profiles.back();
    if (profile.counted) evidence.counters.push_back(counters_of_profile(from, profile));
    content = profile.counted ? "counters from a run" : "a profile";
  } else if (all({"rows", "gpu", "peer"})) {
    evidence.networks.push_back(saved_networks_from_json(JsonMembers(json, file)));
    content = "networks on a GPU, compared with a framework";
  } else if (all({"rows", "gpu"})) {
    for (SavedCounters& counters : counters_of_comparison(JsonMembers(json, file))) {
      evidence.counters.push_back(std::move(counters));
    }
    content = "counters, compared with ncu";
  } else if (all({"kernels", "model", "images", "device"})) {
    for (SavedCounts& counts : saved_counts_from_json(JsonMembers(json, file))) {
      evidence.counts.push_back(std::move(counts));
    }
    content = "simt counts";
  } else if (all({"files"})) {
    for (SavedVerdict& verdict : saved_verdicts_from_json(JsonMembers(json, file))) {
      evidence.verdicts.push_back(std::move(verdict));
    }
    content = "kernel file verdicts";
  } else if (all({"predictions"})) {
    for (SavedPrediction& prediction : saved_predictions_from_json(JsonMembers(json, file))) {
      evidence.predictions.push_back(std::move(prediction));
    }
    content = "predictions";
  } else if (all({"shard"}) || all({"shares", "launch"})) {
    throw bad_input("{}: runs of several processes are not supported in a report", file);
  } else if (all({"layers", "network_s"})) {
    evidence.runs.push_back(saved_run_from_json(JsonMembers(json, file)));
    content = "a run";
  } else {
    return false;
  }
  evidence.sources.push_back({file, content});
  return true;
}

}  // namespace

void add_evidence(Evidence& evidence, std::string_view text, const std::string& file) {
  if (add_known(evidence, parse_json(text, file), file)) return;
  throw bad_input(
      "{}: not a file for a report; write one with --json by 'convlab bench', 'run', 'profile', 'verify FILE' or a "
      "course script such as 'convlab m2.1'",
      file);
}

void add_evidence(Evidence& evidence, const std::filesystem::path& file_or_folder) {
  namespace fs = std::filesystem;
  const auto text_of = [](const fs::path& file) { return read_text(file, kMostBytes); };
  std::error_code error;
  if (!fs::is_directory(file_or_folder, error)) {
    return add_evidence(evidence, text_of(file_or_folder), file_or_folder.string());
  }
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator entry(file_or_folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".json") files.push_back(entry->path());
  }
  if (error) throw bad_input("{}: cannot read folder: {}", file_or_folder.string(), error.message());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const bool known = add_known(evidence, parse_json(text_of(file), file.string()), file.string());
    if (!known) evidence.sources.push_back({file.string(), "not shown in a report"});
  }
}

}  // namespace convlab
