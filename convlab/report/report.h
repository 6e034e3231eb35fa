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

/// Everything that goes into a report.
struct ReportInput {
  std::string semester;  ///< "fa19"
  Answers answers;       ///< of the semester's network
  Evidence evidence;     ///< saved measurements, and the runs that were made for this report
  Machine machine;       ///< the one that makes the report
  Build build;
  std::string when;                 ///< UTC
  std::vector<std::string> failed;  ///< what could not be run here, and why
  std::vector<OwnKernel> own;       ///< whose report this is, in order; if there are none, that of convlab's own
};

/// The course's three sizes.
inline constexpr int64_t kCourseSizes[] = {100, 1000, 10000};

/// What the sections share.
struct Contents {
  const ReportInput& input;
  std::vector<MachineRecords> machines;
  std::vector<KernelFacts> kernels;

  /// "--semester fa18 " unless it is fall 2019, which commands use by default.
  std::string semester_option() const;

  /// Whether the report is about this kernel.
  bool is_own(const std::string& kernel) const;
};

/// The whole page. It measures nothing: figures come from `input`.
struct Report {
  std::string html;
  std::vector<Deliverable> deliverables;
};
Report make_report(const ReportInput& input);

/// A profile's title and its two tables: what takes more than 90 % of the time of kernels, and of calls.
std::string profile_lists(const SavedProfile& profile);

// The sections, one per file. The first two are of a report about somebody's own kernels.
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
