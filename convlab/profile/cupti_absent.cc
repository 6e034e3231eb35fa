// Takes the place of cupti_recorder.cc and event_seconds.cc in a build without CUDA.

#include "convlab/base/error.h"
#include "convlab/profile/overhead.h"
#include "convlab/profile/recorder.h"

namespace convlab {

std::unique_ptr<Recorder> make_cuda_recorder() {
  throw unavailable("profiling a GPU: this build has no CUDA support; configure with -DCONVLAB_CUDA=ON");
}

std::optional<double> event_seconds(Engine&, const std::function<void()>&) { return {}; }

}  // namespace convlab
