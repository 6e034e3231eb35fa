#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convlab/classroom/points.h"

namespace convlab::classroom {

/// The share of the reference's time that a submission takes, with bounds that hold at 95 %.
struct RatioBounds {
  double ratio = 0, low = 0, high = 0;
};

/// A submission that passed.
struct Passed {
  int64_t submission = 0;
  int64_t student = 0;
  std::string name;                   ///< as the ranking shows it
  bool is_made_up = false;            ///< the name
  std::string math;                   ///< the class of arithmetic that was measured
  int math_order = 0;                 ///< classes in the order in which the ranking has them
  std::optional<RatioBounds> bounds;  ///< nullopt without a clock
  std::string counters;               ///< what simt counted, in a few words
};

struct RankingEntry {
  int64_t rank = 0;  ///< in its class
  Passed best;
  double points = 0;
};

/// The best submission of each student, by class of arithmetic and then by ratio. Who is not surely slower than the
/// best of a rank, because the bounds overlap, shares that rank. Without a clock all of a class share the first rank.
/// Equal ones come in the order of submission.
std::vector<RankingEntry> ranking(std::vector<Passed> passed, const PointsRule& rule);

/// One student's result for the registrar.
struct Grade {
  std::string name, assignment, verdict;  ///< verdict "": nothing was handed in
  std::optional<RankingEntry> entry;      ///< of those who passed
};

}  // namespace convlab::classroom
