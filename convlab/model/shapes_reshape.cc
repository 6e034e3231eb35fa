// Shape inference for Concat and reshapes.

#include <optional>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/model/shape_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {

Shape shape_of(const ConcatOp& op, Shapes inputs) {
  Shape y = inputs[0];
  const size_t axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(y)));
  for (const Shape& next : inputs.subspan(1)) {
    Shape other = next;
    if (other.size() == y.size()) other[axis] = y[axis];
    if (other != y) {
      throw bad_input("shapes {} and {} must be equal except along axis {}", to_text(inputs[0]), to_text(next), axis);
    }
    y[axis] = checked_add(y[axis], next[axis]);
  }
  return y;
}

Shape shape_of(const FlattenOp& op, Shapes inputs) {
  const Shape& x = inputs[0];
  const int64_t rank = std::ssize(x);
  const int64_t axis = op.axis == rank ? rank : normalized_axis(op.axis, rank);  // the end is also allowed
  return {element_count({x.begin(), x.begin() + axis}), element_count({x.begin() + axis, x.end()})};
}

Shape shape_of(const ReshapeOp& op, Shapes inputs) {
  const Shape& x = inputs[0];
  const auto fail = [&](const char* reason) {
    throw bad_input("cannot reshape {} to {}: {}", to_text(x), to_text(op.shape), reason);
  };
  Shape y = op.shape;
  std::optional<size_t> open;
  for (size_t i = 0; i < y.size(); ++i) {
    if (y[i] == 0) {
      if (i >= x.size()) fail("0 copies a dimension that the input does not have");
      y[i] = x[i];
    } else if (y[i] == -1) {
      if (open) fail("-1 may occur only once");
      open = i;
      y[i] = 1;
    } else if (y[i] < 0) {
      fail("a size is negative");
    }
  }
  const int64_t have = element_count(x), want = element_count(y);
  if (open) {
    if (want == 0) fail("-1 is ambiguous because the result has no elements");
    if (have % want != 0) fail("the size for -1 is not an integer");
    y[*open] = have / want;
  } else if (have != want) {
    fail("the element counts differ");
  }
  return y;
}

Shape shape_of(const SqueezeOp& op, Shapes inputs) {
  const Shape& x = inputs[0];
  const std::vector<bool> squeezed = marked(op.axes, std::ssize(x));
  Shape y;
  for (size_t i = 0; i < x.size(); ++i) {
    if (op.axes.empty() ? x[i] != 1 : !squeezed[i]) {
      y.push_back(x[i]);
    } else if (x[i] != 1) {
      throw bad_input("cannot squeeze axis {} of shape {}: its size is not 1", i, to_text(x));
    }
  }
  return y;
}

Shape shape_of(const UnsqueezeOp& op, Shapes inputs) {
  const Shape& x = inputs[0];
  const std::vector<bool> added = marked(op.axes, std::ssize(x) + std::ssize(op.axes));
  Shape y;
  auto next = x.begin();
  for (bool add : added) y.push_back(add ? 1 : *next++);
  return y;
}

Shape shape_of(const TransposeOp& op, Shapes inputs) {
  const Shape& x = inputs[0];
  if (op.permutation.empty()) return {x.rbegin(), x.rend()};
  Shape y;
  for (int64_t axis : op.permutation) {
    if (axis < 0 || axis >= std::ssize(x)) throw bad_input("axis {} is out of range for shape {}", axis, to_text(x));
    y.push_back(x[static_cast<size_t>(axis)]);
  }
  marked(op.permutation, std::ssize(x));
  if (y.size() != x.size()) {
    throw bad_input("the permutation must have {} axes, got {}", x.size(), y.size());
  }
  return y;
}

}  // namespace convlab
