#pragma once

// What operators on Layout::channels_last share. Threads load 8 channels of a pixel, 16 bytes: see pixel_end.cuh.

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/cpu_halves/halves.h"
#include "convlab/kernels/ops/channels/channel_op.h"

namespace convlab {

inline bool has_channels_last(const Shape& shape) { return shape.size() == 4 && shape[1] % kChannelLanes == 0; }

/// Vectors of 8 channels in images of this shape. Kernels count them in 32 bits.
inline int64_t chunks_in(const Shape& shape) { return element_count(shape) / kChannelLanes; }

/// Why images of this shape are none in this layout, or too large for these kernels.
inline Refusal refuse_unless_pixels(const Shape& shape) {
  if (!has_channels_last(shape)) return "takes images whose channels are a multiple of 8";
  if (chunks_in(shape) >= int64_t{1} << 31) return "takes fewer than 2^31 vectors of 8 channels";
  return std::nullopt;
}

/// Why a step does not give images in this layout, from such.
inline Refusal refuse_unless_last(const OpStep& step) {
  if (step.input_layout != Layout::channels_last || step.output_layout != Layout::channels_last) {
    return "takes and gives channels last";
  }
  return refuse_unless_pixels(step.output);
}

/// Why a step's first input is not an image in this layout, or its output neither that nor plain images of one pixel.
inline Refusal refuse_unless_from_last(const OpStep& step) {
  const Shape& y = step.output;
  if (step.input_layout != Layout::channels_last) return "takes channels last";
  const bool plain = step.output_layout == Layout::plain && y.size() == 4 && y[2] == 1 && y[3] == 1;
  if (!plain && step.output_layout != Layout::channels_last) return "gives channels last, or one pixel";
  if (const Refusal refusal = refuse_unless_pixels(step.inputs[0])) return refusal;
  return refuse_unless_pixels(y);
}

inline const __half* pixel_input(const OpArgs& args, size_t input) {
  return reinterpret_cast<const __half*>(args.inputs[input]);
}
inline __half* pixel_output(const OpArgs& args) { return reinterpret_cast<__half*>(args.output); }

inline namespace CONVLAB_KERNEL_NAMESPACE {

/// min(max(value, low), high), where NaN stays NaN.
inline __device__ float clamped(const Clamp& clamp, float value) {
#ifdef __CUDA_ARCH__
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(value) : "f"(clamp.low));
  asm("min.NaN.f32 %0, %0, %1;" : "+f"(value) : "f"(clamp.high));
  return value;
#else
  value = value < clamp.low ? clamp.low : value;
  return value > clamp.high ? clamp.high : value;
#endif
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
