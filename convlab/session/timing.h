#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "convlab/session/ready_model.h"

namespace convlab {

/// Seconds of a pass over all images: medians of several passes.
struct PassTimes {
  double network_s = 0;  ///< from inputs to outputs in host memory
  double device_network_s =
      0;  ///< from inputs to outputs in device memory, by the device's clock; on a host, network_s
  std::vector<double> steps_s;  ///< of each step of the plan
};

/// One pass, for time_passes().
struct Pass {
  std::function<double(std::vector<double>* steps)> run;  ///< returns its seconds, and those of its steps if not null
  std::function<double()> on_device;                      ///< returns its seconds by the device's clock
};

/// Times `repeat` passes. Waiting for a GPU after each step takes time, so the steps and the network are timed in
/// separate passes; on a host nothing waits, and one pass measures both.
PassTimes time_passes(const DeviceCaps& caps, int64_t repeat, const Pass& pass);

/// Times passes over these tensors, from and to page-locked memory. Run the model before, as a warm-up.
PassTimes time_passes(ReadyModel& model, std::span<const Tensor> inputs, int64_t repeat);

/// Returns the seconds of each step: medians of `repeat` passes over n images, after one pass as a warm-up.
std::vector<double> time_steps(ReadyModel& model, InputArrays inputs, int64_t n, int64_t repeat);

}  // namespace convlab
