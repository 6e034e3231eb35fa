// Stands in for counters_cupti.cc in a build without CUPTI's Range Profiler.

#include "convlab/profile/counters.h"

namespace convlab {

Utilisation take_counters(const Recording&, const std::function<void()>&) {
  return {.kernels = {}, .refusal = "this build has no CUPTI Range Profiler; build with CUDA 12.6 or later"};
}

}  // namespace convlab
