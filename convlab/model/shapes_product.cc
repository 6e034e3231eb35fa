// Shape inference for matrix products.

#include <utility>

#include "convlab/base/error.h"
#include "convlab/model/einsum.h"
#include "convlab/model/shape_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {

Shape shape_of(const GemmOp& op, Shapes inputs) {
  const Shape &a = inputs[0], &b = inputs[1];
  if (a.size() != 2 || b.size() != 2) {
    throw bad_input("inputs must be matrices, got shapes {} and {}", to_text(a), to_text(b));
  }
  const auto [m, depth] = op.transpose_a ? std::pair(a[1], a[0]) : std::pair(a[0], a[1]);
  const auto [depth_b, n] = op.transpose_b ? std::pair(b[1], b[0]) : std::pair(b[0], b[1]);
  if (depth != depth_b) {
    throw bad_input("cannot multiply {}{} by {}{}: {} columns, but {} rows", to_text(a), op.transpose_a ? "'" : "",
                    to_text(b), op.transpose_b ? "'" : "", depth, depth_b);
  }
  Shape y{m, n};
  if (inputs.size() == 3 && (inputs[2].size() > 2 || broadcast_shape(inputs[2], y) != y)) {
    throw bad_input("C of shape {} does not broadcast to {}", to_text(inputs[2]), to_text(y));
  }
  return y;
}

Shape shape_of(const MatMulOp&, Shapes inputs) {
  Shape a = inputs[0], b = inputs[1];
  check_rank(a, 1);
  check_rank(b, 1);
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (a.back() != b[b.size() - 2]) {
    throw bad_input("cannot multiply {} by {}: {} columns, but {} rows", to_text(inputs[0]), to_text(inputs[1]),
                    a.back(), b[b.size() - 2]);
  }
  Shape y = broadcast_shape({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!row) y.push_back(a[a.size() - 2]);
  if (!column) y.push_back(b.back());
  return y;
}

Shape shape_of(const EinsumOp& op, Shapes inputs) {
  const Einsum einsum = einsum_of(op.equation, inputs);
  Shape y;
  for (size_t index : einsum.output) y.push_back(einsum.sizes[index]);
  return y;
}

}  // namespace convlab
