// Adds parallelism over images for large batches, over input channels for small ones (rung 12).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.image_batched",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 12,
    .idea = "parallelism over images, input and output channels for small and large batches",
    .after = "cuda.channel_tree",
    .threads =
        "A block computes 32 adjacent outputs of one output channel. With a large batch, each thread computes the same "
        "output of 4 images and loads a weight once for all. With a small batch, 4 rows of threads partition the input "
        "channels of one image and add their sums in shared memory.",
    .cost = "2 * C * R * S flops; with a large batch 5 loads for 4 multiply-adds instead of 8.",
    .refuses = "Fused epilogues and uint8 input.",
    .limit = "Load instructions (large batches) or the launch (small batches).",
};

constexpr int kPixels = 32;
constexpr int kImages = 4;                // images per thread, for large batches
constexpr int kSlices = 4;                // slices of the input channels, for small batches
constexpr int64_t kLargeBatch = 4 << 20;  // outputs; with that many, all threads of a large GPU have work
constexpr int64_t kMostBlocksInZ = 65535;

/// Each thread computes one pixel of kHeldImages images; kShares rows of threads partition the input channels.
template <int kHeldImages, int kShares>
__global__ void __launch_bounds__(kPixels* kShares)
    convolve_image_batched(const float* x, const float* w, float* y, ConvShape shape) {
  __shared__ float partial[kShares][kHeldImages][kPixels];
  const int pixel = blockIdx.x * kPixels + threadIdx.x, k = blockIdx.y, pixels = shape.p * shape.q;
  const int top = pixel / shape.q * shape.stride_h - shape.pad_top;
  const int left = pixel % shape.q * shape.stride_w - shape.pad_left;
  const int first_channel = k / shape.maps * shape.channels;
  const int64_t image_size = static_cast<int64_t>(shape.c) * shape.h * shape.w;

  for (int64_t n = static_cast<int64_t>(blockIdx.z) * kHeldImages; n < shape.n;
       n += static_cast<int64_t>(gridDim.z) * kHeldImages) {
    const int images = static_cast<int>(min(static_cast<int64_t>(kHeldImages), shape.n - n));
    float sum[kHeldImages] = {};
    for (int c = threadIdx.y; pixel < pixels && c < shape.channels; c += kShares) {
      const float* plane = x + n * image_size + (first_channel + c) * shape.h * shape.w;
      const float* filter = w + (k * shape.channels + c) * shape.r * shape.s;
      for (int r = 0; r < shape.r; ++r) {
        const int h = top + r * shape.dilation_h;
        if (h < 0 || h >= shape.h) continue;
        for (int s = 0; s < shape.s; ++s) {
          const int across = left + s * shape.dilation_w;
          if (across < 0 || across >= shape.w) continue;
          const float weight = filter[r * shape.s + s];
#pragma unroll
          for (int i = 0; i < kHeldImages; ++i) {
            if (i < images) sum[i] += plane[i * image_size + h * shape.w + across] * weight;
          }
        }
      }
    }
    if constexpr (kShares > 1) {
      for (int i = 0; i < kHeldImages; ++i) partial[threadIdx.y][i][threadIdx.x] = sum[i];
      __syncthreads();
      for (int share = 1; threadIdx.y == 0 && share < kShares; ++share) {
        for (int i = 0; i < kHeldImages; ++i) sum[i] += partial[share][i][threadIdx.x];
      }
      __syncthreads();
    }
    if (threadIdx.y == 0 && pixel < pixels) {
#pragma unroll
      for (int i = 0; i < kHeldImages; ++i) {
        if (i < images) y[((n + i) * shape.k + k) * pixels + pixel] = sum[i];
      }
    }
  }
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) { return refuse_unless_rung(step); }

void launch_image_batched(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const bool large = problem.output_count() >= kLargeBatch || problem.channels_per_group() == 1;
  const int64_t blocks = std::min(large ? ceil_div(problem.n, kImages) : problem.n, kMostBlocksInZ);
  const dim3 grid(ceil_div(problem.p() * problem.q(), kPixels), problem.k, blocks);
  const auto with = [&](auto kernel, int shares) {
    launch(kernel, {.grid = grid, .block = dim3(kPixels, shares)}, stream.native(), static_cast<const float*>(args.x),
           args.w, args.y, kernel_shape(problem));
  };
  if (large) return with(convolve_image_batched<kImages, 1>, 1);
  with(convolve_image_batched<1, kSlices>, kSlices);
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_image_batched>,
}};

}  // namespace
}  // namespace convlab
