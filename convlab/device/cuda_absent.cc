// Replaces cuda.cc in a build without CUDA: every function reports that CUDA is not available.

#include "convlab/base/error.h"
#include "convlab/device/cuda.h"

namespace convlab {

namespace {

Error no_cuda() {
  return unavailable(
      "this build has no CUDA support; use device cpu or simt, or configure with -DCONVLAB_CUDA=ON where nvcc is "
      "installed");
}

}  // namespace

std::unique_ptr<Device> open_cuda(int, const DeviceOptions&) { throw no_cuda(); }

int count_cuda(const DeviceOptions&) { throw no_cuda(); }

std::vector<DeviceListing> list_cuda() { return {{"cuda", "not available: this build has no CUDA support"}}; }

bool cuda_present() { return false; }

int cuda_compute_capability(int) { throw no_cuda(); }

}  // namespace convlab
