#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/kernels/kernel.h"
#include "convlab/plan/plan.h"
#include "convlab/session/ready_model.h"

namespace convlab::app {

/// One step of the plan over all images.
struct LayerResult {
  std::string name, op, kernel;
  std::string problem;     ///< a convolution's text, for all images; otherwise ""
  Math math = Math::fp32;  ///< of the kernel
  double seconds = 0;      ///< on the slowest of several devices
  double flops = 0;        ///< of all devices together
  double bytes = 0;        ///< minimum memory traffic: inputs and outputs once, weights once on each device
  bool early = false;      ///< a kernel file that computes in its prolog; then `seconds` is not meaningful

  /// Whether a rate can be computed.
  bool rated() const { return seconds > 0 && !early; }
};

/// Describes a step of the plan over all images on this many devices, without its time. The plan is for one batch of
/// `batch` images.
LayerResult describe_layer(const PlanStep& step, int64_t batch, int64_t images, size_t devices);

/// Describes all steps of a model over this many images, with their seconds.
std::vector<LayerResult> describe_layers(const ReadyModel& model, int64_t images, const std::vector<double>& seconds);

}  // namespace convlab::app
