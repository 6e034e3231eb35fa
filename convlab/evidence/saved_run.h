#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/measure/machine.h"

namespace convlab {

class JsonMembers;

/// One layer of a run.
struct SavedLayer {
  std::string name, op, problem, kernel;
  double op_time_s = 0, gflops = 0;
};

/// Time of a kernel file with a prolog and an epilog on one problem.
struct SavedFilePhases {
  std::string file, problem;
  double layer_s = 0;               ///< from the start of the prolog to the end of the epilog
  bool computes_in_prolog = false;  ///< then its Op Time is meaningless
};

/// Output of `convlab run --json` or of one of the course's commands.
struct SavedRun {
  std::string source;   ///< the file, or "" for the report's own run
  std::string command;  ///< "m2.1 1000 --semester fa19"; "" in files of versions that did not write it
  std::string lines;    ///< its first output, the course's lines
  std::string time;     ///< of the whole process, in the format of /usr/bin/time; "" if unknown
  std::string model, device, math, plan;
  int64_t images = 0, max_rss_kb = 0;
  int threads = 0;
  double accuracy = 0, network_s = 0, load_s = 0, total_s = 0;
  std::optional<double> user_s, system_s;
  std::optional<double> waited_share;  ///< see Contention
  std::vector<SavedLayer> layers;
  std::vector<SavedFilePhases> file_phases;
  std::optional<Machine> machine;

  /// Returns "m2.1", "run"; "" if the command is unknown.
  std::string script() const { return command.substr(0, command.find(' ')); }
};

/// Throws Error(bad_input) with the location and the member that is wrong.
SavedRun saved_run_from_json(const JsonMembers& from);

/// Reads JSON text; messages call it `place`.
SavedRun saved_run_from_text(std::string_view text, const std::string& place);

}  // namespace convlab
