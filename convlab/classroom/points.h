#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convlab::classroom {

/// How an assignment gives points to a submission that passed; others get none.
///   passed      the most
///   linear      by the ratio to the reference's time: the most at `full` or less, the least at `zero` or more, and
///               on a line between
///   deviations  by how many standard deviations of the class's ratios it is faster than the median: the most at `full`
///               or more, the least at `zero` or less
///   top         by the rank: the first gets the most, the n-th the least or more, and who comes later the least
enum class Formula { passed, linear, deviations, top };

std::string_view name_of(Formula formula);

struct PointsRule {
  Formula formula = Formula::passed;
  double most = 100, least = 0;
  double full = 0, zero = 0;
  int64_t n = 10;
};

/// What the points of one student depend on.
struct Standing {
  std::optional<double> ratio;  ///< nullopt where there is no clock
  int64_t rank = 0;
};

/// The points of all who passed, in order. Without a ratio, formulas that need one give the least.
std::vector<double> points_of(const PointsRule& rule, const std::vector<Standing>& standings);

}  // namespace convlab::classroom
