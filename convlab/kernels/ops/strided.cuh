#pragma once

#include <cstdint>

#include "convlab/device/cuda_compat.h"
#include "convlab/tensor/shape.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

constexpr int kMostDimensions = 8;

/// Maps the index of an output element to an offset in an input: the size of each output dimension, and the input's
/// stride along it in elements (0 if it is broadcast). Passed to kernels by value.
struct Strided {
  int rank = 0;
  int64_t size[kMostDimensions] = {};
  int64_t stride[kMostDimensions] = {};
};

inline __device__ int64_t strided_offset(const Strided& strided, int64_t index) {
  int64_t offset = 0;
  for (int dimension = strided.rank - 1; dimension >= 0; --dimension) {
    offset += index % strided.size[dimension] * strided.stride[dimension];
    index /= strided.size[dimension];
  }
  return offset;
}

/// Returns the strides of an input under NumPy's broadcasting to `output`; both have at most kMostDimensions
/// dimensions.
inline Strided broadcast_strides(const Shape& input, const Shape& output) {
  Strided strided;
  strided.rank = static_cast<int>(output.size());
  int64_t stride = 1;
  for (int back = 1; back <= strided.rank; ++back) {
    const int dimension = strided.rank - back;
    const int64_t size = back <= static_cast<int>(input.size()) ? input[input.size() - back] : 1;
    strided.size[dimension] = output[dimension];
    strided.stride[dimension] = size == 1 ? 0 : stride;
    stride *= size;
  }
  return strided;
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
