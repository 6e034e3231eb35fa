#pragma once

#include "convlab/kernels/cpu/nhwc_int8/byte_levels.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

// What small operators on nhwc4 uint8 share.

inline const uint8_t* byte_input(const Args& args, size_t i) { return args.input<uint8_t>(i); }
/// The weights of a ByteConvOp.
inline const int8_t* byte_weights(const Args& args) { return args.input<int8_t>(1); }
inline uint8_t* byte_output(const Args& args) { return args.output<uint8_t>(); }

/// Pixels of an image of this shape.
inline int64_t pixels_of(const Shape& shape) { return shape.size() == 4 ? shape[2] * shape[3] : 1; }

inline Refusal refuse_unless_bytes(const Step& step) {
  if (step.inputs[0].format != kNhwc4U8 || step.outputs[0].format != kNhwc4U8) {
    return "input and output must be nhwc4 uint8";
  }
  if (step.outputs[0].shape.size() != 4) return "output must be 4-dimensional";
  return std::nullopt;
}

}  // namespace convlab
