#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "convlab/conv/epilogue.h"
#include "convlab/kernels/conv_step.h"

namespace convlab {

// What kernels of nchw8c share.

/// Returns the elements from one image to the next: `step` of a ConvStep or Step, or if 0, those of a dense image.
inline int64_t image_step(int64_t step, const Shape& shape) {
  return step != 0 ? step : shape[1] * shape[2] * shape[3];
}

/// min(max(x, low), high), where NaN stays NaN: applied in registers at no cost.
struct Clamp {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};

/// Returns the clamp that is equivalent to an activation. Other activations are applied to stored outputs in a second
/// pass (see activate() in cpu/epilogue.h).
constexpr std::optional<Clamp> clamp_of(const Activation& activation) {
  switch (activation.kind) {
    case ActivationKind::none:
      return Clamp{};
    case ActivationKind::relu:
      return Clamp{.low = 0};
    case ActivationKind::clip:
      return Clamp{activation.alpha, activation.beta};
    default:
      return std::nullopt;
  }
}

/// Returns a reason unless a step's output is in this layout, and its input too or, if `plain_input`, plain float32
/// (nchw).
inline Refusal refuse_unless_channel_lanes(const ConvStep& step, bool plain_input) {
  const bool own = step.input_format == kNchw8c, plain = step.input_format.order == Order::nchw;
  if (step.output_format != kNchw8c || !(plain_input ? plain : own)) {
    return plain_input ? "input must be nchw and output nchw8c" : "input and output must be nchw8c";
  }
  if (step.input_format == kRawPixels) return "input must be float32";
  if (step.problem.k % kChannelLanes != 0) return "output channels must be a multiple of 8";
  if (own && step.problem.c % kChannelLanes != 0) return "input channels must be a multiple of 8";
  if (step.epilogue.pool) return "fused pooling is not supported";
  return std::nullopt;
}

}  // namespace convlab
