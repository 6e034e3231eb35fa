#pragma once

#include <cstdint>

#include <fmt/core.h>

#include "convlab/kernels/op.h"

namespace convlab {

// What kernels of Layout::channel_halves, and of other rows of pixels, share.

/// Elements from one pixel to the next: `step` of a ConvStep or OpStep, or as dense as the shape is.
inline int64_t pixel_step(int64_t step, const Shape& shape) { return step != 0 ? step : shape[1]; }

/// The same of an operator's input, and of its output.
inline int64_t input_pixel_step(const OpStep& step, size_t input) {
  return pixel_step(step.input_steps.empty() ? 0 : step.input_steps[input], step.inputs[input]);
}
inline int64_t output_pixel_step(const OpStep& step) { return pixel_step(step.output_step, step.output); }

inline const uint16_t* half_input(const OpArgs& args, size_t input) {
  return reinterpret_cast<const uint16_t*>(args.inputs[input]);
}
inline uint16_t* half_output(const OpArgs& args) { return reinterpret_cast<uint16_t*>(args.output); }

inline bool has_pixel_rows(const Shape& shape) { return shape.size() == 4 && shape[1] % kChannelLanes == 0; }

/// Why a step does not give images in this layout of rows of pixels, from such.
inline Refusal refuse_unless_rows(const OpStep& step, Layout layout) {
  if (step.input_layout != layout || step.output_layout != layout) {
    return fmt::format("input and output layout must be '{}'", name_of(layout));
  }
  if (!has_pixel_rows(step.output)) return "channels must be a multiple of 8";
  return std::nullopt;
}

/// Why a step's first input is not an image in this layout, or its output neither that nor plain images of one pixel.
inline Refusal refuse_unless_from_rows(const OpStep& step, Layout layout) {
  const Shape& y = step.output;
  if (step.input_layout != layout || !has_pixel_rows(step.inputs[0])) {
    return fmt::format("input must be images in layout '{}'", name_of(layout));
  }
  const bool plain = step.output_layout == Layout::plain && y.size() == 4 && y[2] == 1 && y[3] == 1;
  if (!plain && step.output_layout != layout) {
    return fmt::format("output must be in layout '{}' or 1x1", name_of(layout));
  }
  return std::nullopt;
}

}  // namespace convlab
