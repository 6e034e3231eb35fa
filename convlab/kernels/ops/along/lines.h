#pragma once

#include <algorithm>
#include <cstdint>

#include "convlab/kernels/kernel.h"
#include "convlab/model/shapes.h"

namespace convlab {

/// An array as `outer` * `inner` lines along one axis. Line i starts at offset begin_of(i), and its `count` elements
/// are `inner` apart.
struct Lines {
  int64_t outer = 1, count = 1, inner = 1;

  Lines(const Shape& shape, int64_t axis) {
    const int64_t rank = std::ssize(shape), at = normalized_axis(axis, rank);
    for (int64_t i = 0; i < rank; ++i) (i < at ? outer : i == at ? count : inner) *= shape[static_cast<size_t>(i)];
  }

  int64_t lines() const { return outer * inner; }
  int64_t begin_of(int64_t line) const { return line / inner * count * inner + line % inner; }

  /// Returns the lines per work item.
  int64_t grain() const { return std::max<int64_t>(1, 8192 / std::max<int64_t>(count, 1)); }
};

}  // namespace convlab
