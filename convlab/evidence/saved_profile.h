#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/profile/totals.h"

namespace convlab {

class JsonMembers;

/// A part of a run's wall time.
struct BillLine {
  std::string name, remedy;
  double seconds = 0;
};

/// What `convlab profile --json` wrote.
struct SavedProfile {
  std::string source, command, model, device, device_name;
  int64_t images = 0;
  ProfileTotals summary;
  std::vector<BillLine> bill;  ///< its last line is what no part covers
  double overhead = 0;         ///< cost of profiling: 0.01 is one per cent
  bool counted = false;        ///< taken with --counters, for which see saved_counters.h

  /// The convolution kernel that was asked for, "cuda.basic"; "" if the plan chose.
  std::string forced_kernel() const;

  /// The sum of the bill: the wall time of the whole run.
  double wall_s() const;
};

/// Error(bad_input) with the place and the member that is wrong.
SavedProfile saved_profile_from_json(const JsonMembers& from);

}  // namespace convlab
