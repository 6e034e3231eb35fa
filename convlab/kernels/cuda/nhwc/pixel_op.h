#pragma once

// Shared by the operators in nhwc, with elements of __half or float.
// Threads load 8 channels of a pixel: see pixel_end.cuh.

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/cpu/nchw8c/channel_op.h"
#include "convlab/kernels/cpu/nhwc_bf16/halves.h"
#include "convlab/kernels/cuda/nhwc/pixel_conv.h"

namespace convlab {

/// The nhwc layout of an element type, and the arithmetic of its operators.
template <class Element>
inline constexpr Format kPixelFormat = kIsHalf<Element> ? kNhwcF16 : kNhwc;
template <class Element>
inline constexpr Math kPixelMath = kIsHalf<Element> ? Math::fp16 : Math::fp32;

/// Returns the vectors of 8 channels in images of this shape. Kernels count them in 32 bits.
inline int64_t chunks_in(const Shape& shape) { return element_count(shape) / kChannelLanes; }

/// Returns why images of this shape do not fit this layout, or are too large for these kernels.
inline Refusal refuse_unless_pixels(const Shape& shape) {
  if (!has_pixel_rows(shape)) return "channels must be a multiple of 8";
  if (chunks_in(shape) >= int64_t{1} << 31) return "the array must have fewer than 2^34 elements";
  return std::nullopt;
}

/// Returns why the input or output of a step is not nhwc of this element type, or is too large for these kernels.
template <class Element>
Refusal refuse_unless_last(const Step& step) {
  if (const Refusal refusal = refuse_unless_rows(step, kPixelFormat<Element>)) return refusal;
  return refuse_unless_pixels(step.outputs[0].shape);
}

/// The same for a step whose output may also be 1x1 images in nchw.
template <class Element>
Refusal refuse_unless_from_last(const Step& step) {
  if (const Refusal refusal = refuse_unless_from_rows(step, kPixelFormat<Element>)) return refusal;
  if (const Refusal refusal = refuse_unless_pixels(step.inputs[0].shape)) return refusal;
  return refuse_unless_pixels(step.outputs[0].shape);
}

template <class Element>
const Element* pixel_input(const Args& args, size_t input) {
  return args.input<Element>(input);
}
template <class Element>
Element* pixel_output(const Args& args) {
  return args.output<Element>();
}

}  // namespace convlab
