#pragma once

#include <vector>

#include "convlab/judge/judgement.h"

namespace convlab::judge {

/// Seconds of a submission and of the reference, sample by sample, until their ratio is known well enough.
class RatioSampling {
 public:
  void add(double seconds, double reference_s);

  /// Whether the interval of 95 % of the median ratio is narrower than 1 %, after ten samples; or there are 300. When half of
  /// the time is over ten do in any case.
  bool enough(double elapsed_s, double limit_s) const;

  /// Its interval is that of the samples, and at least 0.25 % on either side: the samples of one judgement share a process, and
  /// the medians of 20 judgements of one kernel on an H200 lay up to 0.4 % apart (results/class/nvidia-h200.json).
  Ratio ratio() const;
  double median_s() const;  ///< of the submission

 private:
  std::vector<double> ratios_, seconds_;
};

}  // namespace convlab::judge
