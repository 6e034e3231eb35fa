#pragma once

#include <span>
#include <vector>

namespace convlab {

/// Repeated measurements of one thing in one unit, with their statistics.
struct Summary {
  double median = 0, min = 0, p95 = 0;  ///< 0 without samples
  std::vector<double> samples;          ///< in the order of measurement

  bool operator==(const Summary&) const = default;

  /// Returns half the width of the median's 95 % confidence interval, as a fraction of the median; infinite for fewer
  /// than six samples, which have no 95 % interval.
  double spread() const;
};

/// Returns the middle value, or the mean of the two middle ones. `values` must not be empty.
double median(std::span<const double> values);

/// Computes the statistics. p95 is the smallest sample that at least 95 % of the samples do not exceed (nearest rank).
Summary summarize(std::vector<double> samples);

struct Interval {
  double low = 0, high = 0;
};

/// Returns a distribution-free confidence interval of the median: between two order statistics, chosen so that a fair
/// coin leaves less than 1 - confidence outside (the sign test; Conover, "Practical Nonparametric Statistics", 3rd ed.,
/// section 3.2). With too few values, returns [-inf, inf].
Interval median_interval(std::span<const double> values, double confidence);

}  // namespace convlab
