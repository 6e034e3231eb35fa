// Convolves with one thread per output element (rung 1).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.basic",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 1,
    .idea = "one thread per output element",
    .after = "cpu.reference",
    .threads =
        "A warp computes 32 adjacent outputs of the flattened output plane of one output channel, so its image loads "
        "and its store are coalesced; blockIdx.y is the output channel and blockIdx.z the image. The only division is "
        "by the width.",
    .cost =
        "2 * C * R * S flops; each multiply-add loads 4 bytes of image (per thread) and 4 bytes of filter (one load "
        "per warp).",
    .refuses = "Fused epilogues, uint8 input, and images too large for 32-bit indices.",
    .limit = "Load instructions: two per multiply-add, however well the caches serve them.",
};

constexpr int kThreads = 128;
constexpr int64_t kMostBlocksInZ = 65535;

__global__ void __launch_bounds__(kThreads) convolve_basic(const float* x, const float* w, float* y, ConvShape shape) {
  const int pixel = blockIdx.x * kThreads + threadIdx.x;
  if (pixel >= shape.p * shape.q) return;
  const int p = pixel / shape.q, q = pixel % shape.q, k = blockIdx.y;
  const int first_channel = k / shape.maps * shape.channels;

  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    const float* image = x + (n * shape.c + first_channel) * shape.h * shape.w;
    float sum = 0;
    for (int c = 0; c < shape.channels; ++c) {
      for (int r = 0; r < shape.r; ++r) {
        for (int s = 0; s < shape.s; ++s) {
          const int row = p * shape.stride_h + r * shape.dilation_h - shape.pad_top;
          const int column = q * shape.stride_w + s * shape.dilation_w - shape.pad_left;
          if (row < 0 || row >= shape.h || column < 0 || column >= shape.w) continue;
          sum +=
              image[(c * shape.h + row) * shape.w + column] * w[((k * shape.channels + c) * shape.r + r) * shape.s + s];
        }
      }
    }
    y[(n * shape.k + k) * shape.p * shape.q + pixel] = sum;
  }
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) { return refuse_unless_rung(step); }

void launch_basic(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const dim3 grid(ceil_div(problem.p() * problem.q(), kThreads), problem.k, std::min(problem.n, kMostBlocksInZ));
  launch(convolve_basic, {.grid = grid, .block = kThreads}, stream.native(), static_cast<const float*>(args.x), args.w,
         args.y, kernel_shape(problem));
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_basic>,
}};

}  // namespace
}  // namespace convlab
