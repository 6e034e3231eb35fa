#pragma once

#include <span>
#include <vector>

#include "convlab/judge/judgement.h"

namespace convlab::judge {

/// Seconds of a submission and of the reference, sample by sample and layer by layer, until their ratio is known well
/// enough.
class RatioSampling {
 public:
  /// One sample of each layer.
  void add(std::span<const double> seconds, std::span<const double> reference_s);

  /// Whether the interval of 95 % of the median ratio is narrower than 1 %, after ten samples; or there are 300. When
  /// half of the time is over ten do in any case.
  bool enough(double elapsed_s, double limit_s) const;

  /// Of all layers' times. Its interval is that of the samples, and at least 0.25 % on either side: the samples of one
  /// judgement share a process, and the medians of 20 judgements of one kernel on an H200 lay up to 0.4 % apart
  /// (results/class/nvidia-h200.json).
  Ratio ratio() const;
  double median_s() const;  ///< of the submission, for all layers

  /// A layer's medians, without its name and bound.
  LayerTime time_of(size_t layer) const;

 private:
  struct Samples {
    std::vector<double> seconds, reference_s;
  };
  std::vector<Samples> layers_;
  std::vector<double> ratios_, seconds_;  ///< of all layers
};

}  // namespace convlab::judge
