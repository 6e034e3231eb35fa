// Collects the timing samples of a judgment and decides when there are enough.

#include "convlab/judge/ratio_sampling.h"

#include <algorithm>
#include <numeric>

#include "convlab/measure/summary.h"

namespace convlab::judge {

void RatioSampling::add(std::span<const double> seconds, std::span<const double> reference_s) {
  const auto sum = [](std::span<const double> each) { return std::accumulate(each.begin(), each.end(), 0.0); };
  seconds_.push_back(sum(seconds));
  ratios_.push_back(seconds_.back() / sum(reference_s));
  layers_.resize(seconds.size());
  for (size_t i = 0; i < seconds.size(); ++i) {
    layers_[i].seconds.push_back(seconds[i]);
    layers_[i].reference_s.push_back(reference_s[i]);
  }
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

LayerTime RatioSampling::time_of(size_t layer) const {
  const Samples& samples = layers_.at(layer);
  return {.seconds = median(samples.seconds), .reference_s = median(samples.reference_s)};
}

}  // namespace convlab::judge
