// Computes medians, percentiles and confidence intervals.

#include "convlab/measure/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace convlab {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> result(values.begin(), values.end());
  std::sort(result.begin(), result.end());
  return result;
}

/// Returns the probability that a fair coin shows at most `heads` heads in n throws.
double at_most(size_t heads, size_t n) {
  double sum = 0;
  for (size_t i = 0; i <= heads; ++i) {
    const auto all = static_cast<double>(n), some = static_cast<double>(i);
    sum += std::exp(std::lgamma(all + 1) - std::lgamma(some + 1) - std::lgamma(all - some + 1) - all * std::log(2.0));
  }
  return sum;
}

}  // namespace

double median(std::span<const double> values) {
  const std::vector<double> order = sorted(values);
  const size_t middle = order.size() / 2;
  return order.size() % 2 == 1 ? order[middle] : (order[middle - 1] + order[middle]) / 2;
}

double Summary::spread() const {
  const Interval interval = median_interval(samples, 0.95);
  return (interval.high - interval.low) / 2 / median;
}

Summary summarize(std::vector<double> samples) {
  if (samples.empty()) return {};
  const std::vector<double> order = sorted(samples);
  const auto rank = static_cast<size_t>(std::ceil(0.95 * static_cast<double>(order.size())));
  return {.median = median(order), .min = order.front(), .p95 = order[rank - 1], .samples = std::move(samples)};
}

Interval median_interval(std::span<const double> values, double confidence) {
  const std::vector<double> order = sorted(values);
  const size_t n = order.size();
  // The interval from the r-th smallest to the r-th largest misses the median with twice the probability of at most r -
  // 1 heads.
  size_t r = 0;
  while (r < n / 2 && 2 * at_most(r, n) <= 1 - confidence) ++r;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (r == 0) return {-kInfinity, kInfinity};
  return {order[r - 1], order[n - r]};
}

}  // namespace convlab
