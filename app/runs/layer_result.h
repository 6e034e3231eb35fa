#pragma once

#include <cstdint>
#include <string>

#include "convlab/kernels/kernel.h"
#include "convlab/plan/plan.h"

namespace convlab::app {

/// One step of the plan over all images.
struct LayerResult {
  std::string name, op, kernel;
  std::string problem;     ///< a convolution's text, for all images; otherwise ""
  Math math = Math::fp32;  ///< a convolution's kernel's
  double seconds = 0;      ///< on the slowest of several devices
  double flops = 0;        ///< of all devices together
  double bytes = 0;        ///< that must move at least: inputs and outputs once each, weights once on each device
  bool early = false;      ///< a kernel file that computes in its prolog, so that `seconds` tell nothing

  /// Whether a rate can be told.
  bool rated() const { return seconds > 0 && !early; }
};

/// The plan's step over all images, on so many devices, without its time: the plan is for one batch of `batch`.
LayerResult describe_layer(const PlanStep& step, int64_t batch, int64_t images, size_t devices);

}  // namespace convlab::app
