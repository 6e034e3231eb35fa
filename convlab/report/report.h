#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/evidence/evidence.h"
#include "convlab/report/answers.h"
#include "convlab/report/ladder.h"
#include "convlab/report/own_kernel.h"
#include "convlab/report/page.h"

namespace convlab {

/// Input of a report.
struct ReportInput {
  std::string semester;  ///< "fa19"
  Answers answers;       ///< of the semester's network
  Evidence evidence;     ///< saved measurements, and runs made for this report
  Machine machine;       ///< on which the report is made
  Build build;
  std::string when;                 ///< UTC
  std::vector<std::string> failed;  ///< what could not be run here, and why
  std::vector<OwnKernel> own;  ///< the user's kernels in order; if there are none, the report is about convlab's own
};

/// The course's three batch sizes.
inline constexpr int64_t kCourseSizes[] = {100, 1000, 10000};

/// Data that the sections share.
struct Contents {
  const ReportInput& input;
  std::vector<MachineRecords> machines;
  std::vector<KernelFacts> kernels;

  /// Returns "--semester fa18 "; "" for fall 2019, the default of all commands.
  std::string semester_option() const;

  /// Returns whether the kernel is one of the user's kernels.
  bool is_own(const std::string& kernel) const;
};

/// The whole page. Making it measures nothing: all figures are from `input`.
struct Report {
  std::string html;
  std::vector<Deliverable> deliverables;
};
Report make_report(const ReportInput& input);

/// Returns a profile's title and its two tables: what takes more than 90 % of the time of kernels, and of calls.
std::string profile_lists(const SavedProfile& profile);

// The sections, one per file. The first two are for a report about a user's kernels.
void add_own_kernels(Page& page, const Contents& contents);
void add_comparison(Page& page, const Contents& contents);
void add_course(Page& page, const Contents& contents);
void add_networks(Page& page, const Contents& contents);
void add_machines(Page& page, const Contents& contents);
void add_profile(Page& page, const Contents& contents);
void add_op_times(Page& page, const Contents& contents);
void add_ladder(Page& page, const Contents& contents);
void add_optimizations(Page& page, const Contents& contents);
void add_bill(Page& page, const Contents& contents);
void add_answers(Page& page, const Contents& contents);
void add_methods(Page& page, const Contents& contents);

}  // namespace convlab
