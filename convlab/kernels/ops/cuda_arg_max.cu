// cuda.arg_max: computes the index of each image's largest element, so that a label crosses the bus instead of a score
// per class. One thread per image: the lab's networks have few classes.

#include <algorithm>
#include <cmath>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 128;
constexpr int64_t kMostBlocks = 65536;
constexpr int64_t kMostNumbers = 1 << 24;  // beyond, fp32 does not represent every index

__global__ void __launch_bounds__(kThreads)
    find_largest(const float* x, float* y, int64_t images, int64_t numbers, bool finite) {
  wait_for_launch_before();
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (int64_t image = first; image < images; image += static_cast<int64_t>(gridDim.x) * kThreads) {
    const float* from = x + image * numbers;
    float largest = from[0];
    int64_t place = 0;
    for (int64_t i = 1; i < numbers; ++i) {
      const float each = from[i];
      // Once `largest` is NaN it stays NaN: no element compares greater.
      if (each > largest || each != each) {
        largest = each;
        place = i;
      }
    }
    const bool right = finite ? largest - largest == 0 : largest == largest;
    y[image] = right ? static_cast<float>(place) : NAN;
  }
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ArgMaxOp>(step.op)) return "only ArgMax over an image is supported";
  if (element_count(step.inputs[0].shape) / step.inputs[0].shape[0] > kMostNumbers) {
    return "an image must have at most 16777216 elements";
  }
  return std::nullopt;
}

void launch_arg_max(const Args& args, Stream& stream) {
  const int64_t images = args.step.outputs[0].shape[0], numbers = element_count(args.step.inputs[0].shape) / images;
  launch(find_largest,
         {.grid = dim3(std::min(ceil_div(images, kThreads), kMostBlocks)), .block = kThreads, .early = true},
         stream.native(), args.input(0), args.output(), images, numbers, std::get<ArgMaxOp>(args.step.op).finite);
}

const RegisterKernel registered{{
    .info = {.name = "cuda.arg_max",
             .device = kCompiledFor,
             .family = Family::reduction,
             .idea = "index of the largest element: one thread per image, for few classes"},
    .refuses = refuses,
    .launch = launch_arg_max,
}};

}  // namespace
}  // namespace convlab
