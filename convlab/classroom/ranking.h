#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convlab/classroom/points.h"

namespace convlab::classroom {

/// A submission's time divided by the reference's, with 95 % confidence bounds.
struct RatioBounds {
  double ratio = 0, low = 0, high = 0;
};

/// A submission that passed.
struct Passed {
  int64_t submission = 0;
  int64_t student = 0;
  std::string name;                   ///< as shown in the ranking
  bool is_made_up = false;            ///< whether `name` is a pseudonym
  std::string math;                   ///< arithmetic class, as measured
  int math_order = 0;                 ///< sort order of the classes in the ranking
  std::optional<RatioBounds> bounds;  ///< nullopt if the device does not measure time
  std::string counters;               ///< simt's counters in a few words
};

struct RankingEntry {
  int64_t rank = 0;  ///< within its arithmetic class
  Passed best;
  double points = 0;
};

/// Returns each student's best submission, sorted by arithmetic class and then by ratio. A submission that is not
/// significantly slower than the best of a rank, because their bounds overlap, shares that rank. Without time
/// measurement, all submissions of a class share the first rank. Ties are in order of submission.
std::vector<RankingEntry> ranking(std::vector<Passed> passed, const PointsRule& rule);

/// One student's result for the registrar.
struct Grade {
  std::string name, assignment, verdict;  ///< verdict "": nothing was submitted
  std::optional<RankingEntry> entry;      ///< if the student passed
};

}  // namespace convlab::classroom
