#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convlab/conv/epilogue.h"
#include "convlab/model/graph.h"
#include "convlab/tensor/format.h"

namespace convlab {

/// An array that a step reads or writes.
struct Operand {
  Shape shape;
  Format format = kNchw;
  /// If not 0, the array is part of a larger (concatenated) one: elements between images in nchw8c, between pixels in
  /// nhwc.
  int64_t pitch = 0;
  bool constant = false;  ///< prepare() gets its address
  Shape written = {};     ///< the shape when it was written, if its order is not nchw; it may have been reshaped since
};

/// One operator of a plan and what is fused with it.
struct Step {
  Op op;
  std::vector<Operand> inputs, outputs;
  Epilogue epilogue;  ///< applied to the operator's own result
};

/// Returns the operands' shapes.
inline std::vector<Shape> shapes_of(std::span<const Operand> operands) {
  std::vector<Shape> shapes;
  for (const Operand& each : operands) shapes.push_back(each.shape);
  return shapes;
}

}  // namespace convlab
