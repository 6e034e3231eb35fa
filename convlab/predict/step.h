#pragma once

#include <string>
#include <string_view>

#include "convlab/predict/time_model.h"

namespace convlab {

/// One kernel's work and the time that follows from it.
struct Prediction {
  KernelWork work;
  KernelTime time;

  /// What its slowest function is limited by.
  const Resource& limit() const { return time.slowest().limit(); }
};

/// From one kernel to another on one problem: what that should do, before anybody measures it.
struct Step {
  GpuRates rates;
  Prediction before, after;

  /// The second's time over the first's.
  double ratio() const { return after.time.seconds() / before.time.seconds(); }
};

Step predict_step(const GpuRates& rates, KernelWork before, KernelWork after);

/// Times within so much of each other are the same.
inline constexpr double kSame = 0.05;

/// "faster", "slower" or "the same", of one time over another.
std::string_view change_of(double ratio);

/// Why a kernel takes its time: "instruction issue: 8.01 G warp instructions / 931 G a second = 8.60 ms".
std::string reason(const Prediction& prediction);

/// One sentence: how the times compare, what limits the second, and whether that is as before.
std::string claim(const Step& step);

/// The claim, a table of what changes with the arithmetic, and what limits each function.
std::string to_text(const Step& step);

/// Milliseconds.
struct MeasuredStep {
  std::string device;
  double before_ms = 0, after_ms = 0;

  double ratio() const { return after_ms / before_ms; }
};

/// Prediction and measurement side by side, and where to look for the reason of the larger difference.
std::string compared_text(const Step& step, const MeasuredStep& measured);

}  // namespace convlab
