#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convlab/classroom/queue.h"
#include "convlab/classroom/settings.h"
#include "convlab/classroom/store.h"
#include "convlab/classroom/web/page.h"

namespace convlab::classroom {

/// What a student sees of his own.
struct OwnView {
  std::string alias;  ///< how boards name him
  std::vector<AssignmentSettings> assignments;
  struct Line {
    Submission submission;
    std::optional<Turn> turn;
  };
  std::vector<Line> submissions;  ///< in order
};

/// A form to hand in, and, by assignment, a plot and a table of what was handed in.
std::string own_page(const Frame& frame, const OwnView& own);

}  // namespace convlab::classroom
