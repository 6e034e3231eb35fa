// Sums each input channel in its own thread and adds the sums with atomics (rung 6).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.channel_atomic",
    .device = kCompiledFor,
    .math = Math::fp32,
    .repeat = Repeat::order_dependent,
    .rung = 6,
    .idea = "input channels over threads, summed with atomics",
    .after = "cuda.basic",
    .threads =
        "One thread per output element and input channel: a warp computes 32 adjacent outputs of the output plane, "
        "blockIdx.y is the output channel, blockIdx.z the input channel and the image.",
    .cost =
        "2 * C * R * S flops, and for each input channel one atomic addition in L2 (4 bytes read and written there).",
    .refuses = "Fused epilogues and uint8 input.",
    .limit =
        "Atomics: cuda.basic already had enough threads. The order of additions varies, so the last bits vary, too.",
};

constexpr int kThreads = 128;
constexpr int64_t kMostBlocksInZ = 65535;

__global__ void __launch_bounds__(kThreads)
    convolve_channel_atomic(const float* x, const float* w, float* y, ConvShape shape) {
  const int pixel = blockIdx.x * kThreads + threadIdx.x;
  if (pixel >= shape.p * shape.q) return;
  const int k = blockIdx.y, first_channel = k / shape.maps * shape.channels;
  const int top = pixel / shape.q * shape.stride_h - shape.pad_top;
  const int left = pixel % shape.q * shape.stride_w - shape.pad_left;

  const int64_t work = static_cast<int64_t>(shape.n) * shape.channels;
  for (int64_t item = blockIdx.z; item < work; item += gridDim.z) {
    const int64_t n = item / shape.channels;
    const int c = static_cast<int>(item % shape.channels);
    const float* plane = x + (n * shape.c + first_channel + c) * shape.h * shape.w;
    const float* filter = w + (k * shape.channels + c) * shape.r * shape.s;
    float sum = 0;
    for (int r = 0; r < shape.r; ++r) {
      const int h = top + r * shape.dilation_h;
      if (h < 0 || h >= shape.h) continue;
      for (int s = 0; s < shape.s; ++s) {
        const int across = left + s * shape.dilation_w;
        if (across >= 0 && across < shape.w) sum += plane[h * shape.w + across] * filter[r * shape.s + s];
      }
    }
    atomicAdd(&y[(n * shape.k + k) * shape.p * shape.q + pixel], sum);
  }
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) { return refuse_unless_rung(step); }

void launch_channel_atomic(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  stream.fill(args.y, 0, static_cast<size_t>(problem.output_count()) * sizeof(float));
  const dim3 grid(ceil_div(problem.p() * problem.q(), kThreads), problem.k,
                  std::min(problem.n * problem.channels_per_group(), kMostBlocksInZ));
  launch(convolve_channel_atomic, {.grid = grid, .block = kThreads}, stream.native(), static_cast<const float*>(args.x),
         args.w, args.y, kernel_shape(problem));
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_channel_atomic>,
}};

}  // namespace
}  // namespace convlab
