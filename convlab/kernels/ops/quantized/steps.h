#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/kernel.h"
#include "convlab/model/shapes.h"

namespace convlab {

/// Locates the scale or zero point of an array's elements: one for the whole array, one per index along an axis, or one
/// per block of such indices. The array is divided into rows of `width` elements whose parameters are all the same or
/// adjacent.
struct QuantizedRows {
  int64_t rows = 1, width = 1;
  int64_t count = 1, inner = 1, block_size = 0;
  bool axis_is_row = false;  ///< the axis is the last one, without blocks

  QuantizedRows(const Shape& x, int64_t axis, int64_t block, bool single) : block_size(block) {
    if (single && block == 0) {
      width = x.empty() ? 1 : x.back();
      rows = element_count(x) / width;
      return;
    }
    const int64_t at = normalized_axis(axis, std::ssize(x));
    count = x[static_cast<size_t>(at)];
    inner = element_count({x.begin() + at + 1, x.end()});
    axis_is_row = inner == 1 && block == 0;
    width = axis_is_row ? count : inner;
    rows = element_count(x) / width;
  }

  /// Returns the index of the row's first parameter among `steps` of them; stride() is the distance between those of
  /// adjacent elements.
  int64_t first(int64_t row, int64_t steps) const {
    if (steps == 1 || axis_is_row) return 0;
    if (block_size == 0) return row % count;
    const int64_t blocks = (count + block_size - 1) / block_size;
    return (row / count * blocks + row % count / block_size) * inner;
  }
  int64_t stride(int64_t steps) const { return steps != 1 && (axis_is_row || block_size != 0) ? 1 : 0; }

  int64_t grain() const { return std::max<int64_t>(1, 8192 / width); }
};

/// A row of x and y with its quantization parameters. Scales of adjacent elements are `scale_stride` apart, zero points
/// `zero_stride`.
struct QuantizedRow {
  const float *x, *scale, *zero;
  float* y;
  int64_t width, scale_stride, zero_stride;
};

/// Calls work(row) for each row of an operator with inputs x, scale and optionally zero points (0 if absent).
template <class Work>
void for_each_quantized_row(const Args& args, int64_t axis, int64_t block_size, ThreadPool& threads, Work work) {
  const bool has_zero = args.inputs.size() > 2;
  const int64_t scales = element_count(args.step.inputs[1].shape),
                zeros = has_zero ? element_count(args.step.inputs[2].shape) : 1;
  const QuantizedRows rows(args.step.outputs[0].shape, axis, block_size, scales == 1 && zeros == 1);
  const float no_zero = 0;
  threads.parallel_for(rows.rows, rows.grain(), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      work(QuantizedRow{.x = args.input(0) + row * rows.width,
                        .scale = args.input(1) + rows.first(row, scales),
                        .zero = has_zero ? args.input(2) + rows.first(row, zeros) : &no_zero,
                        .y = args.output() + row * rows.width,
                        .width = rows.width,
                        .scale_stride = rows.stride(scales),
                        .zero_stride = rows.stride(zeros)});
    }
  });
}

}  // namespace convlab
