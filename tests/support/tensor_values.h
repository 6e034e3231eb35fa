#pragma once

#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// Copies a tensor's elements to a vector: GoogleTest before 1.12 cannot match a std::span.
template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  const auto values = tensor.values<T>();
  return {values.begin(), values.end()};
}

}  // namespace convlab
