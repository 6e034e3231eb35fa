// Takes the place of cupti_recorder.cc in a build without CUDA, or without CUPTI's headers.

#include "convlab/base/error.h"
#include "convlab/device/recorder.h"

namespace convlab {

std::unique_ptr<Recorder> make_cuda_recorder() {
  throw unavailable(
      "profiling a GPU: this build has no CUDA support, or was made without CUPTI's headers; configure with "
      "-DCONVLAB_CUDA=ON where the whole CUDA toolkit is installed");
}

}  // namespace convlab
