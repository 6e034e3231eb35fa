// Partitions the input channels over threads and reduces their sums in a tree (rung 7).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.channel_tree",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 7,
    .idea = "input channels over threads, summed by a tree",
    .after = "cuda.channel_atomic",
    .threads =
        "A block of 32 x 4 threads computes 32 adjacent outputs of one output channel; its 4 rows of threads partition "
        "the input channels, store their partial sums in shared memory and add them pairwise.",
    .cost = "2 * C * R * S flops; 4 partial sums through shared memory instead of atomics, always in the same order.",
    .refuses = "Fused epilogues and uint8 input.",
    .limit = "Load instructions, as in cuda.basic; with one input channel, three idle rows of threads.",
};

constexpr int kPixels = 32;
constexpr int kRows = 4;
constexpr int64_t kMostBlocksInZ = 65535;

__device__ float convolve_channel(const float* plane, const float* filter, const ConvShape& shape, int pixel) {
  const int top = pixel / shape.q * shape.stride_h - shape.pad_top;
  const int left = pixel % shape.q * shape.stride_w - shape.pad_left;
  float sum = 0;
  for (int r = 0; r < shape.r; ++r) {
    const int h = top + r * shape.dilation_h;
    if (h < 0 || h >= shape.h) continue;
    for (int s = 0; s < shape.s; ++s) {
      const int across = left + s * shape.dilation_w;
      if (across >= 0 && across < shape.w) sum += plane[h * shape.w + across] * filter[r * shape.s + s];
    }
  }
  return sum;
}

__global__ void __launch_bounds__(kPixels* kRows)
    convolve_channel_tree(const float* x, const float* w, float* y, ConvShape shape) {
  __shared__ float partial[kRows][kPixels];
  const int pixel = blockIdx.x * kPixels + threadIdx.x, k = blockIdx.y;
  const int first_channel = k / shape.maps * shape.channels;
  const bool inside = pixel < shape.p * shape.q;

  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    float sum = 0;
    for (int c = threadIdx.y; inside && c < shape.channels; c += kRows) {
      sum += convolve_channel(x + (n * shape.c + first_channel + c) * shape.h * shape.w,
                              w + (k * shape.channels + c) * shape.r * shape.s, shape, pixel);
    }
    partial[threadIdx.y][threadIdx.x] = sum;
    for (int rows = kRows / 2; rows > 0; rows /= 2) {
      __syncthreads();
      if (threadIdx.y < rows) partial[threadIdx.y][threadIdx.x] += partial[threadIdx.y + rows][threadIdx.x];
    }
    if (threadIdx.y == 0 && inside) {
      y[(n * shape.k + k) * shape.p * shape.q + pixel] = partial[0][threadIdx.x];
    }
    __syncthreads();
  }
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) { return refuse_unless_rung(step); }

void launch_channel_tree(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const dim3 grid(ceil_div(problem.p() * problem.q(), kPixels), problem.k, std::min(problem.n, kMostBlocksInZ));
  launch(convolve_channel_tree, {.grid = grid, .block = dim3(kPixels, kRows)}, stream.native(),
         static_cast<const float*>(args.x), args.w, args.y, kernel_shape(problem));
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_channel_tree>,
}};

}  // namespace
}  // namespace convlab
