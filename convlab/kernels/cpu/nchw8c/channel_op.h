#pragma once

#include <algorithm>

#include "convlab/kernels/cpu/nchw8c/channels.h"
#include "convlab/kernels/kernel.h"
#include "convlab/model/shapes.h"

namespace convlab {

// Helpers shared by operators on nchw8c. The first half also serves 16-bit nhwc.

inline bool is_constant(const Step& step, size_t input) {
  return input < step.inputs.size() && step.inputs[input].constant;
}

/// Returns whether an operator computes the mean of each channel of each image of x, as {n, c, 1, 1}.
inline bool is_mean_of_maps(const Op& op, const Shape& x) {
  if (std::holds_alternative<GlobalAveragePoolOp>(op)) return true;
  const auto* reduce = std::get_if<ReduceOp>(&op);
  return reduce != nullptr && reduce->kind == ReduceKind::mean && reduce->keep_dims && x.size() == 4 &&
         reduced_axes(*reduce, 4) == std::vector<bool>{false, false, true, true};
}
inline bool is_mean_of_maps(const Step& step) { return is_mean_of_maps(step.op, step.inputs[0].shape); }

inline bool is_elementwise(const Op& op) {
  return std::holds_alternative<ActivationOp>(op) || std::holds_alternative<UnaryOp>(op) ||
         std::holds_alternative<AddOp>(op) || std::holds_alternative<MulOp>(op) || std::holds_alternative<BinaryOp>(op);
}

inline bool is_number(const Step& step, size_t input) {
  return is_constant(step, input) && element_count(step.inputs[input].shape) == 1;
}

/// Returns the same elementwise step for `count` contiguous elements.
inline Step elements_of(const Step& step, int64_t count) {
  Step piece{.op = step.op, .outputs = {{.shape = {count}}}};
  for (size_t i = 0; i < step.inputs.size(); ++i) piece.inputs.push_back({.shape = {is_number(step, i) ? 1 : count}});
  return piece;
}

/// Returns why a step is not an elementwise function of arrays of the output's shape and constant scalars. A scalar may
/// be the first input.
inline Refusal refuse_unless_elementwise(const Step& step) {
  if (!is_elementwise(step.op)) return "only elementwise functions of one or two inputs are supported";
  if (step.inputs[0].format == kRawPixels) return "input must be float32";
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (!is_number(step, i) && (is_constant(step, i) || step.inputs[i].shape != step.outputs[0].shape)) {
      return "inputs must have the output's shape or be constant scalars";
    }
  }
  return std::nullopt;
}

/// Returns which of two inputs has one value per channel while the other has the output's shape; 2 if neither does.
inline size_t channel_input(const Step& step) {
  const Shape& y = step.outputs[0].shape;
  if (y.size() != 4 || step.inputs.size() != 2) return 2;
  for (size_t i = 0; i < 2; ++i) {
    const Shape& shape = step.inputs[i].shape;
    const bool fits = shape == Shape{y[0], y[1], 1, 1} ||
                      (is_constant(step, i) && (shape == Shape{1, y[1], 1, 1} || shape == Shape{y[1], 1, 1}));
    if (fits && step.inputs[1 - i].shape == y && !is_constant(step, 1 - i)) return i;
  }
  return 2;
}

/// Returns why a step does not scale or shift each channel by its own value and then clamp.
inline Refusal refuse_unless_scales_channels(const Step& step) {
  const bool norm = std::holds_alternative<BatchNormOp>(step.op);
  if (!norm && !std::holds_alternative<MulOp>(step.op) && !std::holds_alternative<AddOp>(step.op)) {
    return "only Mul, Add and BatchNormalization are supported";
  }
  if (!clamp_of(step.epilogue.activation)) return "fused activation must be a clamp";
  if (norm ? step.inputs[0].shape != step.outputs[0].shape : channel_input(step) == 2) {
    return "one input must have one value per channel";
  }
  return std::nullopt;
}

/// Returns the elements from one image of an input to the next.
inline int64_t input_image_step(const Step& step, size_t input) {
  return image_step(step.inputs[input].pitch, step.inputs[input].shape);
}

inline int64_t output_image_step(const Step& step) { return image_step(step.outputs[0].pitch, step.outputs[0].shape); }

inline bool has_channel_lanes(const Shape& shape) { return shape.size() == 4 && shape[1] % kChannelLanes == 0; }

/// Returns the blocks of 8 channels, of `pixels` pixels each, per work item.
inline int64_t blocks_at_a_time(int64_t pixels) { return std::max<int64_t>(1, 512 / std::max<int64_t>(pixels, 1)); }

/// Returns why a step's first input and its output are not images in nchw8c.
inline Refusal refuse_unless_channel_lanes(const Step& step) {
  if (step.inputs[0].format != kNchw8c || step.outputs[0].format != kNchw8c) {
    return "input and output must be nchw8c";
  }
  if (!has_channel_lanes(step.inputs[0].shape) || !has_channel_lanes(step.outputs[0].shape)) {
    return "channels must be a multiple of 8";
  }
  if (is_constant(step, 0)) return "the first input must not be constant";
  return std::nullopt;
}

}  // namespace convlab
