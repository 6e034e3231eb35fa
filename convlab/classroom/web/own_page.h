#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convlab/classroom/class_settings.h"
#include "convlab/classroom/queue.h"
#include "convlab/classroom/store.h"
#include "convlab/classroom/web/web_page.h"

namespace convlab::classroom {

/// A student's own view.
struct OwnView {
  std::string alias;  ///< the student's name in the rankings
  std::vector<AssignmentSettings> assignments;
  struct Line {
    Submission submission;
    std::optional<Turn> turn;
  };
  std::vector<Line> submissions;  ///< in order
};

/// Returns a form to submit and, per assignment, a plot and a table of submissions.
std::string own_page(const Frame& frame, const OwnView& own);

}  // namespace convlab::classroom
