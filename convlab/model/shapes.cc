// Infers the shape of an operator's output: checks that all operators share, and elementwise operators.

#include "convlab/model/shapes.h"

#include <type_traits>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/model/limits.h"
#include "convlab/model/shape_rules.h"

namespace convlab {
namespace {

Shape shape_of(const ActivationOp&, Shapes inputs) { return inputs[0]; }
Shape shape_of(const UnaryOp&, Shapes inputs) { return inputs[0]; }
Shape shape_of(const RoundOp&, Shapes inputs) { return inputs[0]; }
Shape shape_of(const AddOp&, Shapes inputs) { return broadcast_shape(inputs[0], inputs[1]); }
Shape shape_of(const MulOp&, Shapes inputs) { return broadcast_shape(inputs[0], inputs[1]); }

Shape shape_of(const BinaryOp& op, Shapes inputs) {
  if (op.kind == BinaryKind::prelu) check_broadcasts("the slope", inputs[1], inputs[0]);
  return broadcast_shape(inputs[0], inputs[1]);
}

Shape shape_of(const WhereOp&, Shapes inputs) {
  return broadcast_shape(inputs[0], broadcast_shape(inputs[1], inputs[2]));
}

template <class T, class... Ts>
constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);

}  // namespace

void check_range(const char* name, int64_t value, int64_t least) {
  if (value < least || value > kMostSize) {
    throw bad_input("{} must be between {} and {}, got {}", name, least, kMostSize, value);
  }
}

void check_image(const Shape& x) {
  if (x.size() != 4) {
    throw bad_input("expected an input of shape N x C x H x W, got {}", to_text(x));
  }
}

void check_rank(const Shape& x, size_t least) {
  if (x.size() < least) throw bad_input("expected rank {} or more, got shape {}", least, to_text(x));
}

void check_vector(const char* name, const Shape& shape, int64_t count) {
  if (shape != Shape{count}) {
    throw bad_input("{} must have {} elements, got shape {}", name, count, to_text(shape));
  }
}

void check_broadcasts(const char* name, const Shape& shape, const Shape& y) {
  bool fits = shape.size() <= y.size();
  for (size_t i = 1; fits && i <= shape.size(); ++i) {
    fits = shape[shape.size() - i] == 1 || shape[shape.size() - i] == y[y.size() - i];
  }
  if (!fits) throw bad_input("{} of shape {} does not broadcast to {}", name, to_text(shape), to_text(y));
}

bool is_single(const Shape& shape) { return element_count(shape) == 1; }

std::vector<bool> marked(const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<bool> marks(static_cast<size_t>(rank));
  for (int64_t axis : axes) {
    const size_t at = static_cast<size_t>(normalized_axis(axis, rank));
    if (marks[at]) throw bad_input("duplicate axis {}", axis);
    marks[at] = true;
  }
  return marks;
}

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

Arity arity(const Op& op) {
  return std::visit(
      []<class T>(const T&) -> Arity {
        if constexpr (is_one_of<T, ConvOp, ConvTransposeOp, GemmOp, QuantizeOp, DequantizeOp>) return {2, 3};
        if constexpr (is_one_of<T, AddOp, MulOp, BinaryOp, MatMulOp, MaxUnpoolOp, GridSampleOp, ByteAddOp>)
          return {2, 2};
        if constexpr (is_one_of<T, GatherOp, GatherElementsOp, GatherNdOp>) return {2, 2};
        if constexpr (is_one_of<T, WhereOp, ScatterElementsOp, ScatterNdOp>) return {3, 3};
        if constexpr (is_one_of<T, ConcatOp, EinsumOp, ByteConcatOp>) return {1, SIZE_MAX};
        if constexpr (is_one_of<T, ByteConvOp>) return {4, 5};
        if constexpr (is_one_of<T, NormalizeOp>) return {1, 3};
        if constexpr (is_one_of<T, ExpandOp>) return {1, 2};
        if constexpr (is_one_of<T, ConvIntegerOp, MatMulIntegerOp>) return {2, 4};
        if constexpr (is_one_of<T, BatchNormOp, SqueezeExciteOp>) return {5, 5};
        if constexpr (is_one_of<T, QLinearConvOp>) return {8, 9};
        if constexpr (is_one_of<T, QLinearMatMulOp>) return {8, 8};
        return {1, 1};
      },
      op);
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
  Shape shape = std::visit([&](const auto& one) { return shape_of(one, inputs); }, op);
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
