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

/// Output of `convlab profile --json`.
struct SavedProfile {
  std::string source, command, model, device, device_name;
  int64_t images = 0;
  ProfileTotals summary;
  std::vector<BillLine> bill;  ///< its last line is the time outside all parts
  double overhead = 0;         ///< cost of profiling: 0.01 is 1 %
  bool counted = false;        ///< with --counters; see saved_counters.h

  /// Returns the convolution kernel that was requested, "cuda.basic"; "" if the plan chose.
  std::string forced_kernel() const;

  /// Returns the sum of the bill: the wall time of the whole run.
  double wall_s() const;
};

/// Throws Error(bad_input) with the location and the member that is wrong.
SavedProfile saved_profile_from_json(const JsonMembers& from);

}  // namespace convlab
