// cuda.batch_norm: computes (x - mean) * scale / sqrt(variance + epsilon) + shift. One thread per element, grid-stride.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 65536;

__global__ void __launch_bounds__(kThreads)
    normalize(const float* x, const float* scale, const float* shift, const float* mean, const float* variance,
              float* y, int64_t count, int64_t channels, int64_t plane, float epsilon) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (int64_t i = first; i < count; i += static_cast<int64_t>(gridDim.x) * kThreads) {
    const int64_t c = i / plane % channels;
    y[i] = (x[i] - mean[c]) * (scale[c] / sqrtf(variance[c] + epsilon)) + shift[c];
  }
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<BatchNormOp>(step.op)) return "only BatchNormalization is supported";
  return std::nullopt;
}

void launch_batch_norm(const Args& args, Stream& stream) {
  const Shape& shape = args.step.outputs[0].shape;
  const int64_t count = element_count(shape);
  if (count == 0) return;
  const int64_t channels = shape.size() > 1 ? shape[1] : 1;
  const dim3 grid(std::min(ceil_div(count, kThreads), kMostBlocks));
  launch(normalize, {.grid = grid, .block = kThreads}, stream.native(), args.input(0), args.input(1), args.input(2),
         args.input(3), args.input(4), args.output(), count, channels, count / (shape[0] * channels),
         std::get<BatchNormOp>(args.step.op).epsilon);
}

const RegisterKernel registered{{
    .info = {.name = "cuda.batch_norm",
             .device = kCompiledFor,
             .family = Family::normalization,
             .idea = "scale and shift of each channel by its statistics: one thread per element"},
    .refuses = refuses,
    .launch = launch_batch_norm,
}};

}  // namespace
}  // namespace convlab
