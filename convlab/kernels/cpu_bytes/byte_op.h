#pragma once

#include "convlab/kernels/cpu_bytes/byte_levels.h"
#include "convlab/kernels/op.h"

namespace convlab {

// What small operators on nhwc4 uint8 share.

inline const uint8_t* byte_input(const OpArgs& args, size_t i) {
  return reinterpret_cast<const uint8_t*>(args.inputs[i]);
}
/// The weights of a ByteConvOp.
inline const int8_t* byte_weights(const OpArgs& args) { return reinterpret_cast<const int8_t*>(args.inputs[1]); }
inline uint8_t* byte_output(const OpArgs& args) { return reinterpret_cast<uint8_t*>(args.output); }

/// Pixels of an image of this shape.
inline int64_t pixels_of(const Shape& shape) { return shape.size() == 4 ? shape[2] * shape[3] : 1; }

inline Refusal refuse_unless_bytes(const OpStep& step) {
  if (step.input_format != kNhwc4U8 || step.output_format != kNhwc4U8) {
    return "input and output must be nhwc4 uint8";
  }
  if (step.output.size() != 4) return "output must be 4-dimensional";
  return std::nullopt;
}

}  // namespace convlab
