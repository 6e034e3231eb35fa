#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/op.h"

namespace convlab {

/// For each dimension of `output`, how far apart an input's neighbours are when it is broadcast to that shape, as NumPy
/// does: 0 where it has size 1 or no such dimension.
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

/// output = function(inputs[0], inputs[1]) element by element, both broadcast to the output's shape. Inputs are walked
/// row by row, rows being as long as both allow: a bias of {K, 1, 1} is one scalar for each map.
template <class Function>
void elementwise(const OpArgs& args, ThreadPool& threads, Function function) {
  const Shape& shape = args.step.output;
  const int64_t count = element_count(shape);
  if (count == 0) return;
  std::vector<int64_t> a = broadcast_strides(args.step.inputs[0], shape);
  std::vector<int64_t> b = broadcast_strides(args.step.inputs[1], shape);
  // Dimensions from `outer` on are one row: in both inputs they are either dense as in the output or a single element.
  size_t outer = shape.size();
  int64_t width = 1;
  bool a_moves = false, b_moves = false;
  while (outer > 0) {
    const int64_t size = shape[outer - 1];
    if (size != 1) {
      const bool a_dense = a[outer - 1] == width, b_dense = b[outer - 1] == width;
      if (width > 1 && (a_dense != a_moves || b_dense != b_moves)) break;
      if ((!a_dense && a[outer - 1] != 0) || (!b_dense && b[outer - 1] != 0)) break;
      a_moves = a_dense;
      b_moves = b_dense;
      width *= size;
    }
    --outer;
  }
  threads.parallel_for(count / width, std::max<int64_t>(1, 8192 / width), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const float *x = args.inputs[0], *y = args.inputs[1];
      int64_t rest = row;
      for (size_t i = outer; i-- > 0; rest /= shape[i]) {
        x += rest % shape[i] * a[i];
        y += rest % shape[i] * b[i];
      }
      float* z = args.output + row * width;
      if (a_moves && b_moves) {
        for (int64_t i = 0; i < width; ++i) z[i] = function(x[i], y[i]);
      } else if (a_moves) {
        for (int64_t i = 0; i < width; ++i) z[i] = function(x[i], *y);
      } else if (b_moves) {
        for (int64_t i = 0; i < width; ++i) z[i] = function(*x, y[i]);
      } else {
        std::fill_n(z, width, function(*x, *y));
      }
    }
  });
}

}  // namespace convlab
