#pragma once

#include <span>
#include <vector>

#include "convlab/judge/judgement.h"

namespace convlab::judge {

/// Collects times of a submission and of the reference, per sample and per layer, until their ratio is known precisely
/// enough.
class RatioSampling {
 public:
  /// Adds one sample of each layer.
  void add(std::span<const double> seconds, std::span<const double> reference_s);

  /// Returns whether the 95 % confidence interval of the median ratio is narrower than 1 % after at least ten samples,
  /// or there are 300 samples. When half of the time limit is over, ten samples are enough.
  bool enough(double elapsed_s, double limit_s) const;

  /// Returns the ratio of the total times over all layers. Its interval is that of the samples, and at least 0.25 % on
  /// either side: the samples of one judgment share a process, and the medians of 20 judgments of one kernel on an
  /// H200 differed by up to 0.4 % (results/class/nvidia-h200.json).
  Ratio ratio() const;
  double median_s() const;  ///< of the submission, over all layers

  /// Returns a layer's medians, without its name and bound.
  LayerTime time_of(size_t layer) const;

 private:
  struct Samples {
    std::vector<double> seconds, reference_s;
  };
  std::vector<Samples> layers_;
  std::vector<double> ratios_, seconds_;  ///< over all layers
};

}  // namespace convlab::judge
