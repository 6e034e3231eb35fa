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

/// Saved measurements, read from files.
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
  std::vector<Source> sources;  ///< in the order of reading
};

/// Adds the measurements in `text`, the content of a file: JSON that `convlab bench`, `run`, `profile`, `verify FILE`
/// or a course command wrote with --json. Throws Error(bad_input) with the file and the location if it is malformed or
/// of another kind.
void add_evidence(Evidence& evidence, std::string_view text, const std::string& file);

/// Adds a file, or all *.json files below a folder in the order of their names. Throws Error(bad_input) as above, and
/// if the file does not exist. In a folder, JSON of another kind is skipped and listed in `sources`.
void add_evidence(Evidence& evidence, const std::filesystem::path& file_or_folder);

}  // namespace convlab
