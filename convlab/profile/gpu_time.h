#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/device/activity.h"

namespace convlab {

/// How long the device worked for one part of the program. What overlaps, on several streams, counts once.
struct GpuTime {
  std::string part;        ///< a layer, say; "" for what nothing of the program is known to have caused
  int64_t busy_ns = 0;     ///< in kernels, copies or fills
  int64_t kernels_ns = 0;  ///< in kernels
  int64_t copies_ns = 0;   ///< in copies or fills
  int64_t both_ns() const { return kernels_ns + copies_ns - busy_ns; }  ///< in both at once
};

/// In the order in which the parts first made the device work.
std::vector<GpuTime> gpu_time(const Recording& recording);

/// A table; "" for none.
std::string to_text(const std::vector<GpuTime>& times);

}  // namespace convlab
