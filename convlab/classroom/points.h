#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convlab::classroom {

/// How an assignment gives points to submissions that passed; others get none.
///   passed      the maximum
///   linear      by the ratio to the reference's time: the maximum at `full` or less, the minimum at `zero` or more,
///               linear in between
///   deviations  by how many standard deviations of the class's ratios it is faster than the median: the maximum at
///               `full` or more, the minimum at `zero` or less
///   top         by rank: the first gets the maximum, decreasing to the n-th; ranks after the n-th get the minimum
enum class Formula { passed, linear, deviations, top };

std::string_view name_of(Formula formula);

struct PointsRule {
  Formula formula = Formula::passed;
  double most = 100, least = 0;
  double full = 0, zero = 0;
  int64_t n = 10;
};

/// The inputs to one student's points.
struct Standing {
  std::optional<double> ratio;  ///< nullopt if the device does not measure time
  int64_t rank = 0;
};

/// Returns the points of all who passed, in order. Without a ratio, formulas that need one give the minimum.
std::vector<double> points_of(const PointsRule& rule, const std::vector<Standing>& standings);

}  // namespace convlab::classroom
