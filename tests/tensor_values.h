#pragma once

#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// A tensor's elements, as every version of GoogleTest matches them: before 1.12 it takes no std::span.
template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  const auto values = tensor.values<T>();
  return {values.begin(), values.end()};
}

}  // namespace convlab
