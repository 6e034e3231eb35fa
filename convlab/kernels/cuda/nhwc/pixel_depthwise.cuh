#pragma once

// Depthwise convolutions in nhwc, of fp16 or fp32: supported steps,
// weight packing and launch, and the kernel for any filter. Filters of 3x3 and 5x5 use depthwise_strips.cuh.

#include <fmt/core.h>

#include "convlab/kernels/cuda/nhwc/depthwise_strips.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_end.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_step.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

constexpr int kDepthwiseThreads = 256;

/// A thread computes 8 channels of an output pixel.
template <class Element>
__global__ void __launch_bounds__(kDepthwiseThreads)
    convolve_any_depthwise(const PixelConvOf<Element> conv, unsigned chunks, unsigned count) {
  const unsigned i = blockIdx.x * kDepthwiseThreads + threadIdx.x;
  if (i >= count) return;
  const ConvShape& shape = conv.shape;
  const unsigned channel = i % chunks * 8, pixel = i / chunks;
  const int q = pixel % shape.q, p = pixel / shape.q % shape.p;
  const Element* image = conv.x + static_cast<int64_t>(pixel / shape.q / shape.p) * shape.h * shape.w * conv.x_step;
  float sum[8] = {};
  for (int r = 0; r < shape.r; ++r) {
    const int h = p * shape.stride_h + r * shape.dilation_h - shape.pad_top;
    if (h < 0 || h >= shape.h) continue;
    for (int s = 0; s < shape.s; ++s) {
      const int w = q * shape.stride_w + s * shape.dilation_w - shape.pad_left;
      if (w < 0 || w >= shape.w) continue;
      float x[8], filter[8];
      load_eight(image + (static_cast<int64_t>(h) * shape.w + w) * conv.x_step + channel, x);
      load_eight(static_cast<const float*>(conv.w) + static_cast<int64_t>(r * shape.s + s) * shape.c + channel, filter);
#pragma unroll
      for (int j = 0; j < 8; ++j) sum[j] = fmaf(x[j], filter[j], sum[j]);
    }
  }
  finish_pixel(conv, sum, pixel, channel);
}

__global__ void __launch_bounds__(kDepthwiseThreads)
    pack_filters_of_channels(const float* w, float* packed, int64_t channels, int64_t taps) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kDepthwiseThreads + threadIdx.x;
  if (i < channels * taps) packed[i] = w[i % channels * taps + i / channels];
}

template <class Element>
Refusal refuses_depthwise(const ConvStep& step, const DeviceCaps&) {
  const ConvProblem& problem = step.problem;
  if (problem.groups != problem.c || problem.k != problem.c) {
    return "only depthwise convolution with depth multiplier 1 is supported";
  }
  constexpr Format kFormat = kPixelFormat<Element>;
  if (step.input_format != kFormat || step.output_format != kFormat) {
    return fmt::format("input and output must be {}", name_of(kFormat));
  }
  if (step.epilogue.pool) return "fused pooling is not supported";
  if (problem.filter_count() >= int64_t{1} << 31) return "fewer than 2^31 weights are supported";
  if (const Refusal refusal = refuse_unless_pixels(problem.input_shape())) return refusal;
  return refuse_unless_pixels(problem.output_shape());
}

inline size_t depthwise_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(checked_mul(step.problem.filter_count(), sizeof(float)));
}

/// Packs filters as [row][column][channel].
inline void prepare_depthwise(const ConvArgs& args, Stream& stream) {
  const int64_t count = args.step.problem.filter_count(), channels = args.step.problem.c;
  launch(pack_filters_of_channels, {.grid = ceil_div(count, kDepthwiseThreads), .block = kDepthwiseThreads},
         stream.native(), args.w, static_cast<float*>(args.prepared), channels, count / channels);
}

template <class Element>
void launch_depthwise(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  PixelConvOf<Element> conv = conv_of_step<Element>(args.step);
  set_addresses(args, conv);
  if (fits_strips(conv)) return launch_strips(conv, stream);
  const auto count = static_cast<unsigned>(chunks_in(problem.output_shape()));
  launch(convolve_any_depthwise<Element>, {.grid = ceil_div(count, kDepthwiseThreads), .block = kDepthwiseThreads},
         stream.native(), conv, static_cast<unsigned>(problem.c / kChannelLanes), count);
}

template <class Element>
Kernel depthwise_kernel(const KernelInfo& info) {
  return {.info = info,
          .refuses = of_conv<refuses_depthwise<Element>>,
          .prepared_bytes = of_conv<depthwise_bytes>,
          .prepare = of_conv<prepare_depthwise>,
          .launch = of_conv<launch_depthwise<Element>>,
          .format = kPixelFormat<Element>,
          .packs_weights = true};
}

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
