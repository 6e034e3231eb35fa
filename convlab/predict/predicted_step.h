#pragma once

#include <optional>
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

Prediction predict(const GpuRates& rates, KernelWork work);

/// A kernel on one problem and, if it replaces another one, that kernel, predicted before they are measured.
struct LadderStep {
  GpuRates rates;
  std::optional<Prediction> before;
  Prediction after;

  /// Returns the kernel's time over that of the kernel before.
  double ratio() const { return after.time.seconds() / before->time.seconds(); }
};

/// Times with a relative difference up to this are the same.
inline constexpr double kSame = 0.05;

/// Returns "faster", "slower" or "the same", for a ratio of times.
std::string_view change_of(double ratio);

/// Returns what limits a kernel: "instruction issue: 8.01 G warp instructions / 931 G per s = 8.60 ms".
std::string reason(const Prediction& prediction);

/// Returns one sentence: the time or, with a kernel before, how the times compare, and what limits each kernel.
std::string claim(const LadderStep& step);

/// Returns "NVIDIA H200; counted for 2 images on simt, scaled by 5000".
std::string conditions_text(const GpuRates& rates, const KernelWork& work);

/// Returns the claim, a table of the work or its changes with the arithmetic, and what limits each function.
std::string to_text(const LadderStep& step);

/// Measured times in milliseconds.
struct MeasuredStep {
  std::string device;
  double before_ms = 0;  ///< 0: there is no kernel before
  double after_ms = 0;

  double ratio() const { return after_ms / before_ms; }
};

/// Returns predictions and measurements side by side, with possible causes of the largest difference.
std::string compared_text(const LadderStep& step, const MeasuredStep& measured);

}  // namespace convlab
