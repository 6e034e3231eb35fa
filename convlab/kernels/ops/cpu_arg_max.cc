// cpu.arg_max: computes the index of the largest element of each image, the first one on a tie. The result is NaN if an
// element is NaN or, with `finite`, if the largest element is infinite.
// Threads: a work item is 256 images.
// Not supported: more than 2^24 elements per image, the limit of exact indices in fp32.
// Limited by reading its input.

#include <algorithm>
#include <cmath>
#include <limits>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_arg_max {
namespace {

constexpr int64_t kMostNumbers = 1 << 24;

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ArgMaxOp>(step.op)) return "only ArgMax over an image is supported";
  if (element_count(step.inputs[0].shape) / step.inputs[0].shape[0] > kMostNumbers) {
    return "an image must have at most 16777216 elements";
  }
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  constexpr int64_t kImagesPerPiece = 256;
  const int64_t images = args.step.outputs[0].shape[0], numbers = element_count(args.step.inputs[0].shape) / images;
  const bool finite = std::get<ArgMaxOp>(args.step.op).finite;
  stream.threads()->parallel_for(images, kImagesPerPiece, [&](int64_t begin, int64_t end, int) {
    for (int64_t image = begin; image < end; ++image) {
      const float* first = args.input(0) + image * numbers;
      const bool nan = std::any_of(first, first + numbers, [](float each) { return std::isnan(each); });
      const float* largest = std::max_element(first, first + numbers);
      args.output()[image] = nan || (finite && std::isinf(*largest)) ? std::numeric_limits<float>::quiet_NaN()
                                                                     : static_cast<float>(largest - first);
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.arg_max",
             .device = DeviceKind::cpu,
             .family = Family::reduction,
             .idea = "index of the largest element of each image; NaN if an element is NaN"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_arg_max
