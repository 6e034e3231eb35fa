// Tells the time to kernels.

#include "convlab/simt/cuda/device_clock.h"

#include <ctime>

#include "convlab/simt/worker.h"

namespace convlab::simt::cuda {

long long clock64() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

}  // namespace convlab::simt::cuda

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
clock_t __real_clock() noexcept;

// The linker redirects clock() of the program here.
clock_t __wrap_clock() noexcept {
  return convlab::simt::internal::active_worker ? convlab::simt::cuda::clock64() : __real_clock();
}
}
// NOLINTEND(bugprone-reserved-identifier)
