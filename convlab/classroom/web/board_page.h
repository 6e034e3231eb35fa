#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "convlab/classroom/ranking.h"
#include "convlab/classroom/settings.h"
#include "convlab/classroom/web/page.h"

namespace convlab::classroom {

/// What anybody may see of an assignment.
struct AssignmentView {
  std::string name, device;
  std::optional<double> deadline_s;   ///< seconds since 1970
  std::vector<RankingEntry> ranking;  ///< with the names that the class shows
  int64_t waiting = 0, running = 0;   ///< submissions
  std::vector<std::string> files;     ///< of public/NAME, for students to begin with
};

/// The assignments, with links to their boards.
std::string class_page(const Frame& frame, const std::vector<AssignmentView>& assignments);

/// The ranking of one. `own`: the submissions of who looks, whose line is marked.
std::string board_page(const Frame& frame, const AssignmentView& assignment, const std::set<int64_t>& own);

}  // namespace convlab::classroom
