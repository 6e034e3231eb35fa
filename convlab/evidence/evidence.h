#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/evidence/saved_counters.h"
#include "convlab/evidence/saved_counts.h"
#include "convlab/evidence/saved_networks.h"
#include "convlab/evidence/saved_prediction.h"
#include "convlab/evidence/saved_profile.h"
#include "convlab/evidence/saved_run.h"
#include "convlab/evidence/saved_verdict.h"
#include "convlab/measure/record.h"

namespace convlab {

/// Measurements as files keep them.
struct Evidence {
  std::vector<Record> records;
  std::vector<SavedRun> runs;
  std::vector<SavedProfile> profiles;
  std::vector<SavedCounters> counters;
  std::vector<SavedNetworks> networks;
  std::vector<SavedCounts> counts;
  std::vector<SavedVerdict> verdicts;
  std::vector<SavedPrediction> predictions;

  struct Source {
    std::string file, content;  ///< "42 Records"
  };
  std::vector<Source> sources;  ///< in the order in which they were read
};

/// Adds what a file holds; `text` is its content, JSON as `convlab bench`, `run`, `profile`, `verify FILE` and the
/// course's commands write it with --json. Error(bad_input) that names file and place where it is malformed or none of
/// these.
void add_evidence(Evidence& evidence, std::string_view text, const std::string& file);

/// Adds a file, or all *.json below a folder in the order of their names. Error(bad_input) as add_evidence(), and where
/// there is no such file; but in a folder JSON of another kind is skipped, and `sources` says so.
void add_evidence(Evidence& evidence, const std::filesystem::path& file_or_folder);

}  // namespace convlab
