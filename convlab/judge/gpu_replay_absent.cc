// Replaces gpu_replay.cc in builds without CUDA.

#include "convlab/base/error.h"
#include "convlab/judge/gpu_replay.h"

namespace convlab::judge {

int compute_capability_of(int) {
  throw unavailable("judging on a GPU is not supported: this program was built without CUDA");
}

void replay_on_gpu(const std::filesystem::path&) { compute_capability_of(0); }

}  // namespace convlab::judge
