#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convlab/device/activity.h"

namespace convlab {

/// All activities with one name.
struct TotalsRow {
  std::string name;
  double share = 0;  ///< of the total time of its table, 0..1
  int64_t total_ns = 0, calls = 0, min_ns = 0, max_ns = 0;
  std::map<std::string, int64_t> parts_ns;  ///< by the layer, or other part of the program, that caused them

  int64_t average_ns() const { return calls == 0 ? 0 : total_ns / calls; }
};

/// nvprof's two tables, sorted by total time, the largest first.
struct ProfileTotals {
  DeviceKind device = DeviceKind::cpu;
  std::vector<TotalsRow> activities;  ///< what the device did
  std::vector<TotalsRow> calls;       ///< host calls; a call made inside another one counts as part of that
};

ProfileTotals summarize(const Recording& recording);

/// Returns the fewest rows that together take more than `share` of the table's time; all rows if that is not reached.
std::vector<TotalsRow> rows_above(const std::vector<TotalsRow>& rows, double share);

/// Answers the course's question "what takes more than 90 % of the time" for one table: returns a line per row with its
/// share, time and name, and below it the layers that caused it.
std::string to_text(const std::vector<TotalsRow>& top_rows);

/// A paragraph for reports: kernels and API calls on a GPU, and how they differ.
extern const std::string_view kKernelsVersusApiCalls;

/// The same for kernels on a CPU and host calls.
extern const std::string_view kKernelsVersusHostCalls;

}  // namespace convlab
