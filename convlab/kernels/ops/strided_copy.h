#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/tensor/shape.h"

namespace convlab {

/// Returns the strides of a dense row-major array, in elements.
inline std::vector<int64_t> dense_strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// Copies to y, a dense array of `shape`: y[index] = x[sum of index * stride over all dimensions]. Strides are in
/// elements and may be 0 or negative. Merges dimensions that are contiguous in x. Each row is copied, filled or
/// gathered.
inline void strided_copy(const float* x, float* y, const Shape& shape, const std::vector<int64_t>& strides,
                         ThreadPool& threads) {
  Shape sizes{1, 1};  // at least two dimensions: rows, and elements of a row
  std::vector<int64_t> steps{0, 0};
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (sizes.size() > 2 && steps.back() == strides[i] * shape[i]) {
      sizes.back() *= shape[i];
      steps.back() = strides[i];
    } else {
      sizes.push_back(shape[i]);
      steps.push_back(strides[i]);
    }
  }
  // The last two dimensions form a tile, so that the index is divided only once per tile.
  const size_t outer = sizes.size() - 2;
  const int64_t rows = sizes[outer], width = sizes[outer + 1], row_step = steps[outer], step = steps[outer + 1];
  int64_t tiles = 1;
  for (size_t i = 0; i < outer; ++i) tiles *= sizes[i];
  const int64_t rows_together = std::clamp<int64_t>(8192 / width, 1, rows);
  const int64_t pieces = (rows + rows_together - 1) / rows_together;
  threads.parallel_for(
      tiles * pieces, std::max<int64_t>(1, 8192 / (rows_together * width)), [&](int64_t begin, int64_t end, int) {
        for (int64_t piece = begin; piece < end; ++piece) {
          const float* tile = x;
          int64_t rest = piece / pieces;
          for (size_t i = outer; i-- > 0; rest /= sizes[i]) tile += rest % sizes[i] * steps[i];
          const int64_t first = piece % pieces * rows_together, last = std::min(first + rows_together, rows);
          for (int64_t row = first; row < last; ++row) {
            const float* from = tile + row * row_step;
            float* to = y + (piece / pieces * rows + row) * width;
            if (step == 1) {
              std::copy_n(from, width, to);
            } else if (step == 0) {
              std::fill_n(to, width, *from);
            } else {
              for (int64_t i = 0; i < width; ++i) to[i] = from[i * step];
            }
          }
        }
      });
}

}  // namespace convlab
