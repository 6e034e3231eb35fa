// Replaces cupti_recorder.cc in a build without CUDA or without CUPTI's headers.

#include "convlab/base/error.h"
#include "convlab/device/recorder.h"

namespace convlab {

std::unique_ptr<Recorder> make_cuda_recorder() {
  throw unavailable(
      "GPU profiling is not supported: this build has no CUDA support or no CUPTI headers; install the whole CUDA "
      "toolkit and configure with -DCONVLAB_CUDA=ON");
}

}  // namespace convlab
