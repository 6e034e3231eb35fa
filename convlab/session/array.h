#pragma once

#include <algorithm>

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

/// Returns the type to which a run's inputs are converted: uint8 if all are, otherwise float32. type(x): an input's
/// own.
template <class Inputs, class Type>
ElementType input_type(const Inputs& inputs, Type type) {
  const auto is_byte = [](ElementType each) { return each == ElementType::u8; };
  return std::ranges::all_of(inputs, is_byte, type) ? ElementType::u8 : ElementType::f32;
}

}  // namespace convlab
