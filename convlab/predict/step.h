#pragma once

#include <string>
#include <string_view>

#include "convlab/predict/time_model.h"

namespace convlab {

/// One kernel's work and the predicted time.
struct Prediction {
  KernelWork work;
  KernelTime time;

  /// Returns the limiting resource of its slowest function.
  const Resource& limit() const { return time.slowest().limit(); }
};

/// A change from one kernel to another on one problem, predicted before it is measured.
struct LadderStep {
  GpuRates rates;
  Prediction before, after;

  /// Returns the second kernel's time over the first's.
  double ratio() const { return after.time.seconds() / before.time.seconds(); }
};

LadderStep predict_step(const GpuRates& rates, KernelWork before, KernelWork after);

/// Times with a relative difference up to this are the same.
inline constexpr double kSame = 0.05;

/// Returns "faster", "slower" or "the same", for a ratio of times.
std::string_view change_of(double ratio);

/// Returns what limits a kernel: "instruction issue: 8.01 G warp instructions / 931 G per s = 8.60 ms".
std::string reason(const Prediction& prediction);

/// Returns one sentence: how the times compare, and what limits each kernel.
std::string claim(const LadderStep& step);

/// Returns the claim, a table of the changes with their arithmetic, and what limits each function.
std::string to_text(const LadderStep& step);

/// Measured times in milliseconds.
struct MeasuredStep {
  std::string device;
  double before_ms = 0, after_ms = 0;

  double ratio() const { return after_ms / before_ms; }
};

/// Returns prediction and measurement side by side, with possible causes of the larger difference.
std::string compared_text(const LadderStep& step, const MeasuredStep& measured);

}  // namespace convlab
