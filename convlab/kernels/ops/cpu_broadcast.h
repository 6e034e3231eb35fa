#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

/// Returns the strides of an input, in elements, for each dimension of `output` when it is broadcast to that shape as
/// in NumPy: 0 if the input has size 1 there or lacks the dimension.
inline std::vector<int64_t> broadcast_strides(const Shape& input, const Shape& output) {
  std::vector<int64_t> strides(output.size(), 0);
  const size_t missing = output.size() - input.size();
  int64_t dense = 1;
  for (size_t i = input.size(); i-- > 0;) {
    if (input[i] != 1) strides[missing + i] = dense;
    dense *= input[i];
  }
  return strides;
}

/// Arrays broadcast to one shape, traversed row by row, with rows as long as all arrays allow: a bias of {K, 1, 1} is
/// one scalar per output channel.
struct BroadcastRows {
  Shape outer;  ///< the dimensions before a row
  int64_t count = 1, width = 1;
  std::vector<std::vector<int64_t>> strides;  ///< per array: broadcast_strides(); only those of `outer` are used
  std::vector<bool> moves;  ///< per array: whether its row is dense (otherwise it is a single element)

  BroadcastRows(const std::vector<Shape>& arrays, const Shape& shape) : moves(arrays.size(), false) {
    for (const Shape& array : arrays) strides.push_back(broadcast_strides(array, shape));
    size_t outer_rank = shape.size();
    for (; outer_rank > 0; --outer_rank) {
      const int64_t size = shape[outer_rank - 1];
      if (size == 1) continue;
      std::vector<bool> dense;
      bool fits = true;
      for (const std::vector<int64_t>& each : strides) {
        dense.push_back(each[outer_rank - 1] == width);
        fits = fits && (dense.back() || each[outer_rank - 1] == 0);
      }
      if (!fits || (width > 1 && dense != moves)) break;
      moves = dense;
      width *= size;
    }
    outer.assign(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(outer_rank));
    count = element_count(outer);
  }

  /// Returns the offset of a row in an array, in elements.
  int64_t offset(size_t array, int64_t row) const {
    int64_t at = 0;
    for (size_t i = outer.size(); i-- > 0; row /= outer[i]) at += row % outer[i] * strides[array][i];
    return at;
  }

  /// Returns the rows per work item.
  int64_t grain() const { return std::max<int64_t>(1, 8192 / width); }
};

/// Computes output = function(inputs[0], inputs[1]) element by element, both broadcast to the output's shape.
template <class Function>
void elementwise(const Args& args, ThreadPool& threads, Function function) {
  if (element_count(args.step.outputs[0].shape) == 0) return;
  const BroadcastRows rows(shapes_of(args.step.inputs), args.step.outputs[0].shape);
  threads.parallel_for(rows.count, rows.grain(), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const float* x = args.input(0) + rows.offset(0, row);
      const float* y = args.input(1) + rows.offset(1, row);
      float* z = args.output() + row * rows.width;
      const float first_x = *x, first_y = *y;
      if (rows.moves[0] && rows.moves[1]) {
        for (int64_t i = 0; i < rows.width; ++i) z[i] = function(x[i], y[i]);
      } else if (rows.moves[0]) {
        for (int64_t i = 0; i < rows.width; ++i) z[i] = function(x[i], first_y);
      } else if (rows.moves[1]) {
        for (int64_t i = 0; i < rows.width; ++i) z[i] = function(first_x, y[i]);
      } else {
        std::fill_n(z, rows.width, function(first_x, first_y));
      }
    }
  });
}

}  // namespace convlab
