#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convlab/device/activity.h"

namespace convlab {

/// All activities of one name.
struct SummaryRow {
  std::string name;
  double share = 0;  ///< of the time of all rows of its table, 0..1
  int64_t total_ns = 0, calls = 0, min_ns = 0, max_ns = 0;
  std::map<std::string, int64_t> parts_ns;  ///< by the layer, or other part of the program, that caused them

  int64_t average_ns() const { return calls == 0 ? 0 : total_ns / calls; }
};

/// nvprof's two tables, each by total time, the largest first.
struct ProfileSummary {
  DeviceKind device = DeviceKind::cpu;
  std::vector<SummaryRow> activities;  ///< what the device did
  std::vector<SummaryRow> calls;       ///< what the host called; a call made inside another one is part of that
};

ProfileSummary summarize(const Recording& recording);

/// The fewest rows that together take more than `share` of the table's time; all of them where none are enough.
std::vector<SummaryRow> rows_above(const std::vector<SummaryRow>& rows, double share);

/// The course's question, "what takes more than 90 % of the time", answered for one table: a line a row with its share,
/// time and name, and below it the layers that caused it.
std::string to_text(const std::vector<SummaryRow>& top_rows);

/// Kernels and API calls, and how they differ: a paragraph for a report.
extern const std::string_view kKernelsVersusApiCalls;

}  // namespace convlab
