#include "convlab/base/error.h"
#include "convlab/judge/gpu_replay.h"

namespace convlab::judge {

int compute_capability_of(int) {
  throw unavailable("this program was built without CUDA, and judges nothing on a GPU");
}

void replay_on_gpu(const std::filesystem::path&) { compute_capability_of(0); }

}  // namespace convlab::judge
