// cuda.one_pixel: fp32 convolutions of 1x1 nchw images, as in squeeze-and-excitation. A warp computes an output channel
// of kImages images: its lanes divide the input channels, 4 or 1 at a time, and a filter is read once for all of the
// images.

#include <optional>

#include "convlab/base/checked.h"
#include "convlab/kernels/cuda/nhwc/pixel_conv.h"
#include "convlab/kernels/ops/activation.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.one_pixel",
    .device = kCompiledFor,
    .rung = kProductionRung,
    .idea = "little work in one launch: a warp computes one output channel of eight 1x1 images",
    .after = "cuda.nhwc_igemm_fp16",
    .threads =
        "A warp computes one output channel of up to 8 images; its lanes share the input channels and reduce by "
        "shuffles.",
    .cost =
        "2 * C flops per output; a filter is read once for 8 images, and an image once for each output channel, from "
        "the caches.",
    .refuses =
        "Inputs or outputs larger than 1x1, padding before the pixel, groups, fused pooling, and more work than is "
        "fast "
        "without tensor cores.",
    .limit = "Latency: little more than that of the launch.",
};

constexpr int kThreads = 128, kWarps = kThreads / 32;  // small blocks, on many multiprocessors
constexpr int kImages = 8;
constexpr int64_t kMostProducts = int64_t{1} << 25;

struct OnePixelShape {
  int images, channels, maps;
  Activation activation;
};

__global__ void __launch_bounds__(kThreads)
    convolve_one_pixel(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
                       float* __restrict__ y, const OnePixelShape shape) {
  const int map = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first = blockIdx.y * kImages, images = min(kImages, shape.images - first);
  if (map >= shape.maps) return;
  const float* filter = w + int64_t{map} * shape.channels;
  float sum[kImages] = {};
  if (shape.channels % 4 == 0) {
#pragma unroll 4
    for (int channel = lane * 4; channel < shape.channels; channel += 128) {
      const float4 weights = *reinterpret_cast<const float4*>(filter + channel);
#pragma unroll
      for (int i = 0; i < kImages; ++i) {
        if (i >= images) continue;
        const float4 given = *reinterpret_cast<const float4*>(x + int64_t{first + i} * shape.channels + channel);
        sum[i] += weights.x * given.x + weights.y * given.y + weights.z * given.z + weights.w * given.w;
      }
    }
  } else {
    for (int channel = lane; channel < shape.channels; channel += 32) {
#pragma unroll
      for (int i = 0; i < kImages; ++i) {
        if (i < images) sum[i] += filter[channel] * x[int64_t{first + i} * shape.channels + channel];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kImages; ++i) {
    for (int half = 16; half > 0; half /= 2) sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], half);
    if (lane != i || i >= images) continue;
    const float value = bias != nullptr ? sum[i] + bias[map] : sum[i];
    y[int64_t{first + i} * shape.maps + map] = activated(shape.activation, value);
  }
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  const ConvProblem& problem = step.problem;
  const Shape y = step.output_shape();
  if (step.input_format.order != Order::nchw || step.output_format.order != Order::nchw ||
      step.input_format == kRawPixels) {
    return "input and output must be float32 in nchw";
  }
  if (problem.h != 1 || problem.w != 1 || problem.r != 1 || problem.s != 1 || y[2] != 1 || y[3] != 1) {
    return "images and filters must be 1x1";
  }
  if (problem.pad_top != 0 || problem.pad_left != 0) return "padding before the pixel is not supported";
  if (problem.groups != 1 || step.epilogue.pool || step.adds) {
    return "groups, fused pooling and fused addition are not supported";
  }
  if (checked_product({problem.n, problem.c, problem.k}) > kMostProducts) {
    return fmt::format("at most {} multiply-adds are supported: tensor cores are faster for more", kMostProducts);
  }
  return std::nullopt;
}

void launch_one_pixel(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const OnePixelShape shape{.images = static_cast<int>(problem.n),
                            .channels = static_cast<int>(problem.c),
                            .maps = static_cast<int>(problem.k),
                            .activation = args.step.epilogue.activation};
  launch(convolve_one_pixel, {.grid = {ceil_div(problem.k, kWarps), ceil_div(problem.n, kImages)}, .block = kThreads},
         stream.native(), static_cast<const float*>(args.x), args.w, args.step.epilogue.bias ? args.bias : nullptr,
         args.y, shape);
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_one_pixel>,
    .format = kNhwcF16,
}};

}  // namespace
}  // namespace convlab
