#pragma once

#include "convlab/tensor/element_type.h"
#include "convlab/tensor/shape.h"

namespace convlab {

/// A dense, row-major array in memory that the caller owns.
struct ConstArray {
  const void* data = nullptr;
  ElementType type = ElementType::f32;
  Shape shape;
  bool on_device = false;  ///< in the memory of the session's GPU
};
struct Array {
  void* data = nullptr;
  ElementType type = ElementType::f32;
  Shape shape;
  bool on_device = false;
};

}  // namespace convlab
