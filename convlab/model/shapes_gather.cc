// Shape inference for gather and scatter.

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/model/shape_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Checks the indices of GatherElements and ScatterElements: they have x's rank, and are no longer than x along other
/// axes.
void check_elements(const Shape& x, const Shape& indices, int64_t axis) {
  const auto along = static_cast<size_t>(normalized_axis(axis, std::ssize(x)));
  bool fits = indices.size() == x.size();
  for (size_t i = 0; fits && i < x.size(); ++i) fits = i == along || indices[i] <= x[i];
  if (!fits)
    throw bad_input("indices of shape {} do not fit input of shape {} along axis {}", to_text(indices), to_text(x),
                    along);
}

}  // namespace

Shape shape_of(const GatherOp& op, Shapes inputs) {
  Shape y = inputs[0];
  const int64_t axis = normalized_axis(op.axis, std::ssize(y));
  y.erase(y.begin() + axis);
  y.insert(y.begin() + axis, inputs[1].begin(), inputs[1].end());
  return y;
}

Shape shape_of(const GatherElementsOp& op, Shapes inputs) {
  check_elements(inputs[0], inputs[1], op.axis);
  return inputs[1];
}

Shape shape_of(const GatherNdOp& op, Shapes inputs) {
  const Shape &x = inputs[0], &indices = inputs[1];
  check_rank(indices, 1);
  const int64_t batch = op.batch_dims, length = indices.back();
  const int64_t rank = std::ssize(x);
  if (batch < 0 || batch >= std::ssize(indices) || batch >= rank || length < 1 || length > rank - batch ||
      !std::equal(x.begin(), x.begin() + batch, indices.begin())) {
    throw bad_input("indices of shape {} with batch_dims {} do not fit input of shape {}", to_text(indices), batch,
                    to_text(x));
  }
  Shape y(indices.begin(), indices.end() - 1);
  y.insert(y.end(), x.begin() + batch + length, x.end());
  return y;
}

Shape shape_of(const ScatterElementsOp& op, Shapes inputs) {
  check_elements(inputs[0], inputs[1], op.axis);
  if (inputs[2] != inputs[1]) {
    throw bad_input("updates must have the shape of the indices, {}, got {}", to_text(inputs[1]), to_text(inputs[2]));
  }
  return inputs[0];
}

Shape shape_of(const ScatterNdOp&, Shapes inputs) {
  const Shape &x = inputs[0], &indices = inputs[1];
  check_rank(indices, 1);
  if (indices.back() < 1 || indices.back() > std::ssize(x)) {
    throw bad_input("indices of shape {} do not fit input of shape {}", to_text(indices), to_text(x));
  }
  Shape wanted(indices.begin(), indices.end() - 1);
  wanted.insert(wanted.end(), x.begin() + indices.back(), x.end());
  if (inputs[2] != wanted) {
    throw bad_input("updates must have shape {}, got {}", to_text(wanted), to_text(inputs[2]));
  }
  return x;
}

}  // namespace convlab
