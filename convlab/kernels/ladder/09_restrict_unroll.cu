// Unrolls the filter loops with a compile-time filter size, const and __restrict__ (rung 9).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.restrict_unroll",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 9,
    .idea = "const, restrict, compile-time filter size, unrolled loops, no division by run-time values",
    .after = "cuda.basic",
    .threads =
        "A block of 32 x 4 threads computes a 32 x 4 tile of outputs of every output channel of one image, one channel "
        "after another: the grid provides the coordinates, so no thread divides, and with a compile-time filter size "
        "the window stays in registers.",
    .cost =
        "2 * C * R * S flops; with one input channel each pixel is loaded once for all output channels, otherwise once "
        "per output channel.",
    .refuses = "Fused epilogues, uint8 input, strides, dilation, groups, and filters other than 1x1, 3x3, 5x5 and 7x7.",
    .limit = "Load instructions with several input channels: a pixel is still loaded for every output channel.",
};

constexpr int kColumns = 32;
constexpr int kRows = 4;
constexpr int64_t kMostBlocksInYZ = 65535;

template <int kFilter>
__global__ void __launch_bounds__(kColumns* kRows)
    convolve_unrolled(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                      const ConvShape shape) {
  const int q = blockIdx.x * kColumns + threadIdx.x, p = blockIdx.y * kRows + threadIdx.y;
  if (q >= shape.q || p >= shape.p) return;
  const int top = p - shape.pad_top, left = q - shape.pad_left;

  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    const float* __restrict__ image = x + n * shape.c * shape.h * shape.w;
    for (int k = 0; k < shape.k; ++k) {
      float sum = 0;
      for (int c = 0; c < shape.c; ++c) {
        const float* __restrict__ plane = image + c * shape.h * shape.w;
        const float* __restrict__ filter = w + (k * shape.c + c) * kFilter * kFilter;
#pragma unroll
        for (int r = 0; r < kFilter; ++r) {
#pragma unroll
          for (int s = 0; s < kFilter; ++s) {
            const int h = top + r, across = left + s;
            const bool inside = h >= 0 && h < shape.h && across >= 0 && across < shape.w;
            sum += (inside ? __ldg(plane + h * shape.w + across) : 0) * __ldg(filter + r * kFilter + s);
          }
        }
      }
      y[((n * shape.k + k) * shape.p + p) * shape.q + q] = sum;
    }
  }
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_dense(step)) return refusal;
  const ConvProblem& problem = step.problem;
  if (problem.r != problem.s || (problem.r != 1 && problem.r != 3 && problem.r != 5 && problem.r != 7)) {
    return "filter must be 1x1, 3x3, 5x5 or 7x7";
  }
  if (ceil_div(problem.p(), kRows) > kMostBlocksInYZ) return "output height must be at most 262140";
  return std::nullopt;
}

void launch_unrolled(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const dim3 grid(ceil_div(problem.q(), kColumns), ceil_div(problem.p(), kRows), std::min(problem.n, kMostBlocksInYZ));
  const auto with = [&](auto kernel) {
    launch(kernel, {.grid = grid, .block = dim3(kColumns, kRows)}, stream.native(), static_cast<const float*>(args.x),
           args.w, args.y, kernel_shape(problem));
  };
  switch (problem.r) {
    case 1:
      return with(convolve_unrolled<1>);
    case 3:
      return with(convolve_unrolled<3>);
    case 5:
      return with(convolve_unrolled<5>);
    default:
      return with(convolve_unrolled<7>);
  }
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_unrolled>,
}};

}  // namespace
}  // namespace convlab
