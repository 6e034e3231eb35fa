// Shape inference for normalization and for operators along axes.

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/model/shape_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {

Shape shape_of(const BatchNormOp&, Shapes inputs) {
  check_rank(inputs[0], 2);
  const char* const names[] = {"the input", "the scale", "the shift", "the mean", "the variance"};
  for (size_t i = 1; i < 5; ++i) check_vector(names[i], inputs[i], inputs[0][1]);
  return inputs[0];
}

Shape shape_of(const NormalizeOp& op, Shapes inputs) {
  const Shape& x = inputs[0];
  const char* const names[] = {"the input", "the scale", "the bias"};
  const size_t given = std::min(inputs.size(), std::size(names));
  if (op.groups == 0) {
    const auto axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(x)));
    for (size_t i = 1; i < given; ++i) check_broadcasts(names[i], inputs[i], x);
    Shape y = x;
    if (op.part != NormalizePart::result) std::fill(y.begin() + static_cast<std::ptrdiff_t>(axis), y.end(), 1);
    return y;
  }
  check_rank(x, 2);
  check_range("the number of groups", op.groups, 1);
  if (x[1] % op.groups != 0) throw bad_input("channels ({}) must be a multiple of groups ({})", x[1], op.groups);
  if (op.part != NormalizePart::result) throw bad_input("mean and deviation outputs are not supported with groups");
  for (size_t i = 1; i < given; ++i) check_vector(names[i], inputs[i], x[1]);
  return x;
}

Shape shape_of(const LpNormalizeOp& op, Shapes inputs) {
  normalized_axis(op.axis, std::ssize(inputs[0]));
  if (op.p != 1 && op.p != 2) throw bad_input("p must be 1 or 2, got {}", op.p);
  return inputs[0];
}

Shape shape_of(const LrnOp& op, Shapes inputs) {
  check_rank(inputs[0], 2);
  check_range("the size", op.size, 1);
  return inputs[0];
}
Shape shape_of(const SoftmaxOp& op, Shapes inputs) {
  normalized_axis(op.axis, std::ssize(inputs[0]));
  return inputs[0];
}

std::vector<bool> reduced_axes(const ReduceOp& op, size_t rank) {
  if (op.axes.empty()) return std::vector<bool>(rank, true);
  return marked(op.axes, static_cast<int64_t>(rank));
}

Shape shape_of(const ReduceOp& op, Shapes inputs) {
  const Shape& x = inputs[0];
  const std::vector<bool> reduced = reduced_axes(op, x.size());
  Shape y;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!reduced[i]) y.push_back(x[i]);
    if (reduced[i] && op.keep_dims) y.push_back(1);
  }
  return y;
}

Shape shape_of(const ArgReduceOp& op, Shapes inputs) {
  Shape y = inputs[0];
  const int64_t axis = normalized_axis(op.axis, std::ssize(y));
  int64_t& size = y[static_cast<size_t>(axis)];
  if (size == 0) throw bad_input("axis {} of shape {} has no elements", axis, to_text(y));
  size = 1;
  if (!op.keep_dims) y.erase(y.begin() + axis);
  return y;
}

Shape shape_of(const TopKOp& op, Shapes inputs) {
  Shape y = inputs[0];
  int64_t& size = y[static_cast<size_t>(normalized_axis(op.axis, std::ssize(y)))];
  if (op.k < 1 || op.k > size) throw bad_input("k must be between 1 and {}, got {}", size, op.k);
  size = op.k;
  return y;
}

Shape shape_of(const CumSumOp& op, Shapes inputs) {
  normalized_axis(op.axis, std::ssize(inputs[0]));
  return inputs[0];
}

Shape shape_of(const SqueezeExciteOp&, Shapes inputs) {
  const Shape &x = inputs[0], &w1 = inputs[1];
  check_image(x);
  check_rank(w1, 1);
  const int64_t c = x[1], m = w1[0];
  const Shape wanted[] = {x, {m, c, 1, 1}, {m}, {c, m, 1, 1}, {c}};
  for (size_t i = 1; i < 5; ++i) {
    if (inputs[i] != wanted[i]) {
      throw bad_input("input {} must have shape {}, got {}", i, to_text(wanted[i]), to_text(inputs[i]));
    }
  }
  return x;
}

Shape shape_of(const ArgMaxOp&, Shapes inputs) {
  if (inputs[0].empty()) throw bad_input("expected images, got a scalar");
  return {inputs[0][0]};
}

}  // namespace convlab
