#pragma once

#include <cstdint>

#include <fmt/core.h>

#include "convlab/kernels/conv_step.h"

namespace convlab {

// Helpers shared by kernels of bf16 nhwc bfloat16 and of the other nhwc layouts.

/// Returns the elements from pixel to pixel: `step` of a ConvStep or Step, or, if 0, the number of channels.
inline int64_t pixel_step(int64_t step, const Shape& shape) { return step != 0 ? step : shape[1]; }

/// Same for an operator's input and output.
inline int64_t input_pixel_step(const Step& step, size_t input) {
  return pixel_step(step.inputs[input].pitch, step.inputs[input].shape);
}
inline int64_t output_pixel_step(const Step& step) { return pixel_step(step.outputs[0].pitch, step.outputs[0].shape); }

inline const uint16_t* half_input(const Args& args, size_t input) { return args.input<uint16_t>(input); }
inline uint16_t* half_output(const Args& args) { return args.output<uint16_t>(); }

inline bool has_pixel_rows(const Shape& shape) { return shape.size() == 4 && shape[1] % kChannelLanes == 0; }

/// Returns why a step does not map images in this nhwc layout to images in this layout.
inline Refusal refuse_unless_rows(const Step& step, Format format) {
  if (step.inputs[0].format != format || step.outputs[0].format != format) {
    return fmt::format("input and output must be {}", name_of(format));
  }
  if (!has_pixel_rows(step.outputs[0].shape)) return "channels must be a multiple of 8";
  return std::nullopt;
}

/// Returns why a step's first input is not in this nhwc layout, or its output is neither in it nor plain 1x1 images.
inline Refusal refuse_unless_from_rows(const Step& step, Format format) {
  const Shape& y = step.outputs[0].shape;
  if (step.inputs[0].format != format || !has_pixel_rows(step.inputs[0].shape)) {
    return fmt::format("input must be images in {}", name_of(format));
  }
  const bool plain = step.outputs[0].format.order == Order::nchw && y.size() == 4 && y[2] == 1 && y[3] == 1;
  if (!plain && step.outputs[0].format != format) {
    return fmt::format("output must be {} or 1x1", name_of(format));
  }
  return std::nullopt;
}

}  // namespace convlab
