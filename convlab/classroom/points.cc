// Computes the points of submissions.

#include "convlab/classroom/points.h"

#include <algorithm>
#include <cmath>

#include "convlab/measure/summary.h"

namespace convlab::classroom {
namespace {

/// Interpolates from `least` at `zero` to `most` at `full`, clamped at both ends. `full` may be less than `zero`.
double on_line(const PointsRule& rule, double value) {
  const double share =
      rule.full == rule.zero ? (value >= rule.full ? 1.0 : 0.0) : (value - rule.zero) / (rule.full - rule.zero);
  return rule.least + (rule.most - rule.least) * std::clamp(share, 0.0, 1.0);
}

/// Returns by how many standard deviations a ratio is below the median; 0 if all are equal.
double deviations_faster(double ratio, double middle, double deviation) {
  return deviation > 0 ? (middle - ratio) / deviation : 0;
}

double standard_deviation(const std::vector<double>& values) {
  double mean = 0, squares = 0;
  for (const double each : values) mean += each / static_cast<double>(values.size());
  for (const double each : values) squares += (each - mean) * (each - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

double points_of_rank(const PointsRule& rule, int64_t rank) {
  if (rank > rule.n) return rule.least;
  const double share = static_cast<double>(rule.n - rank + 1) / static_cast<double>(rule.n);
  return rule.least + (rule.most - rule.least) * share;
}

}  // namespace

std::string_view name_of(Formula formula) {
  switch (formula) {
    case Formula::passed:
      return "passed";
    case Formula::linear:
      return "linear";
    case Formula::deviations:
      return "deviations";
    case Formula::top:
      return "top";
  }
  return "";
}

std::vector<double> points_of(const PointsRule& rule, const std::vector<Standing>& standings) {
  std::vector<double> ratios;
  for (const Standing& each : standings) {
    if (each.ratio) ratios.push_back(*each.ratio);
  }
  const double middle = ratios.empty() ? 0 : median(ratios);
  const double deviation = ratios.empty() ? 0 : standard_deviation(ratios);
  std::vector<double> points;
  for (const Standing& each : standings) {
    double value = rule.least;
    if (rule.formula == Formula::passed) value = rule.most;
    if (rule.formula == Formula::top) value = points_of_rank(rule, each.rank);
    if (rule.formula == Formula::linear && each.ratio) value = on_line(rule, *each.ratio);
    if (rule.formula == Formula::deviations && each.ratio) {
      value = on_line(rule, deviations_faster(*each.ratio, middle, deviation));
    }
    points.push_back(value);
  }
  return points;
}

}  // namespace convlab::classroom
