#include "convlab/judge/ratio_sampling.h"

#include <algorithm>

#include "convlab/measure/summary.h"

namespace convlab::judge {

void RatioSampling::add(double seconds, double reference_s) {
  ratios_.push_back(seconds / reference_s);
  seconds_.push_back(seconds);
}

bool RatioSampling::enough(double elapsed_s, double limit_s) const {
  constexpr size_t kFewest = 10, kMost = 300;
  constexpr double kNarrow = 0.01;
  if (ratios_.size() < kFewest) return false;
  const Ratio now = ratio();
  return ratios_.size() >= kMost || elapsed_s >= limit_s / 2 || now.high - now.low <= kNarrow * now.median;
}

Ratio RatioSampling::ratio() const {
  constexpr double kConfidence = 0.95, kFromProcessToProcess = 0.0025;
  const Interval interval = median_interval(ratios_, kConfidence);
  const double middle = median(ratios_), apart = kFromProcessToProcess * middle;
  return {middle, std::min(interval.low, middle - apart), std::max(interval.high, middle + apart),
          static_cast<int>(ratios_.size())};
}

double RatioSampling::median_s() const { return median(seconds_); }

}  // namespace convlab::judge
