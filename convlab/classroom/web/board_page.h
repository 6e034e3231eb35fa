#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "convlab/classroom/class_settings.h"
#include "convlab/classroom/ranking.h"
#include "convlab/classroom/web/web_page.h"

namespace convlab::classroom {

/// The public view of an assignment.
struct AssignmentView {
  std::string name, device;
  std::optional<double> deadline_s;   ///< seconds since 1970
  std::vector<RankingEntry> ranking;  ///< with the names that the class shows
  int64_t waiting = 0, running = 0;   ///< submissions
  std::vector<std::string> files;     ///< of public/NAME, starter files
};

/// Returns the list of assignments, with links to their boards.
std::string class_page(const Frame& frame, const std::vector<AssignmentView>& assignments);

/// Returns the ranking of an assignment. `own`: the viewer's submissions, whose rows are highlighted.
std::string board_page(const Frame& frame, const AssignmentView& assignment, const std::set<int64_t>& own);

}  // namespace convlab::classroom
