// Infers the shape of an operator's output: what all operators have in common.

#include "convlab/model/shapes.h"

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/model/graph_limits.h"
#include "convlab/model/op_info.h"

namespace convlab {

Shape broadcast_shape(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape y = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& size = y[offset + i];
    if (size != shorter[i] && size != 1 && shorter[i] != 1) {
      throw bad_input("shapes {} and {} do not broadcast", to_text(a), to_text(b));
    }
    if (size == 1) size = shorter[i];
  }
  return y;
}

int64_t normalized_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) throw bad_input("axis {} is out of range for {} dimensions", axis, rank);
  return axis < 0 ? axis + rank : axis;
}

Shape output_shape(const Op& op, std::span<const Shape> inputs) {
  const auto [least, most] = arity(op);
  if (inputs.size() < least || inputs.size() > most) {
    throw bad_input("wrong number of inputs: expected {}, got {}",
                    least == most      ? fmt::format("{}", least)
                    : most == SIZE_MAX ? fmt::format("{} or more", least)
                                       : fmt::format("{} to {}", least, most),
                    inputs.size());
  }
  Shape shape = op_entries()[op].shape(op, inputs);
  if (shape.size() > kMostRank) {
    throw bad_input("output has {} dimensions; at most {} are supported", shape.size(), kMostRank);
  }
  constexpr int64_t kElementBytes = 8;
  if (checked_mul(element_count(shape), kElementBytes) == 0) {
    throw bad_input("output of shape {} has no elements", to_text(shape));
  }
  return shape;
}

}  // namespace convlab
