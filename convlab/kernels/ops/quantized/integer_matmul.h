#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

/// A matrix of 8-bit integers as an operator's input, stored as float, and its zero points: none, one, or one per line.
struct IntegerMatrix {
  const float* values = nullptr;
  const Shape& shape;
  std::span<const float> zeros;

  float zero(int64_t line) const {
    return zeros.empty() ? 0 : zeros[zeros.size() == 1 ? 0 : static_cast<size_t>(line)];
  }
};

/// Returns the floats of scratch that integer_matmul() needs.
int64_t integer_matmul_workspace_count(const Shape& a, const Shape& b, const Shape& output);

/// Computes NumPy's matmul exactly. Lines are rows of a and columns of b. Calls take(row, column, place, count, sums)
/// for ranges of adjacent outputs, starting at index `place` of the output; `row` counts within one matrix of a.
using TakeRowSums = std::function<void(int64_t row, int64_t column, int64_t place, int64_t count, const double* sums)>;
void integer_matmul(const IntegerMatrix& a, const IntegerMatrix& b, const Shape& output, float* workspace,
                    ThreadPool& threads, const TakeRowSums& take);

}  // namespace convlab
