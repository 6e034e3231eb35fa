#pragma once

#include <span>
#include <vector>

namespace convlab {

/// Repeated measurements of one thing, in one unit, with what people read of them.
struct Summary {
  double median = 0, min = 0, p95 = 0;  ///< 0 without samples
  std::vector<double> samples;          ///< in the order in which they were taken

  bool operator==(const Summary&) const = default;

  /// How well the median is known: half the width of its 95 % confidence interval, as a share of it; infinite for
  /// fewer than six samples, which give no such interval.
  double spread() const;
};

/// The middle value, or the mean of the two middle ones. `values` must not be empty.
double median(std::span<const double> values);

/// p95 is the smallest sample that 95 % of all do not exceed (nearest rank).
Summary summarize(std::vector<double> samples);

struct Interval {
  double low = 0, high = 0;
};

/// A confidence interval of the median that assumes nothing about the distribution: between two order statistics,
/// chosen so that a fair coin leaves less than 1 - confidence outside (the sign test; Conover, "Practical Nonparametric
/// Statistics", 3rd ed., section 3.2). Too few values give no bounds: [-inf, inf].
Interval median_interval(std::span<const double> values, double confidence);

}  // namespace convlab
