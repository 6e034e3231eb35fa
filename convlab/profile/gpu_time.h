#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/device/activity.h"

namespace convlab {

/// How long the device was busy for one part of the program. Overlapping work on several streams counts once.
struct GpuTime {
  std::string part;        ///< such as a layer; "" if the cause in the program is unknown
  int64_t busy_ns = 0;     ///< in kernels, copies or fills
  int64_t kernels_ns = 0;  ///< in kernels
  int64_t copies_ns = 0;   ///< in copies or fills
  int64_t both_ns() const { return kernels_ns + copies_ns - busy_ns; }  ///< in both at once
};

/// Returns the times in the order in which the parts first used the device.
std::vector<GpuTime> gpu_time(const Recording& recording);

/// Returns a table; "" for no times.
std::string to_text(const std::vector<GpuTime>& times);

}  // namespace convlab
