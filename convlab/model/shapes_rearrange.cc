// Shape inference for padding, slices and other rearrangements.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/model/shape_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {

Shape shape_of(const PadOp& op, Shapes inputs) {
  const Shape& x = inputs[0];
  if (op.pads.size() != 2 * x.size()) {
    throw bad_input("expected {} pads, two for each of {} dimensions, got {}", 2 * x.size(), x.size(), op.pads.size());
  }
  Shape y;
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t before = op.pads[i], after = op.pads[x.size() + i];
    check_range("a pad", before, -kMostSize);
    check_range("a pad", after, -kMostSize);
    const int64_t kept = checked_add(x[i], std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0));
    if (kept < 1) throw bad_input("negative pads remove all elements of axis {} of shape {}", i, to_text(x));
    if (op.mode == PadMode::reflect && std::max(before, after) >= kept) {
      throw bad_input("axis {} of shape {} is too short to reflect {} elements", i, to_text(x),
                      std::max(before, after));
    }
    y.push_back(checked_add(kept, std::max<int64_t>(before, 0) + std::max<int64_t>(after, 0)));
  }
  return y;
}

std::vector<SliceRange> slice_ranges(const SliceOp& op, const Shape& x, bool may_be_empty) {
  const size_t given = op.starts.size();
  if (op.ends.size() != given || (!op.axes.empty() && op.axes.size() != given) ||
      (!op.steps.empty() && op.steps.size() != given)) {
    throw bad_input("starts, ends, axes and steps must be equally long, got {}, {}, {} and {}", given, op.ends.size(),
                    op.axes.size(), op.steps.size());
  }
  if (given > x.size()) throw bad_input("cannot slice {} axes of an input of shape {}", given, to_text(x));
  std::vector<SliceRange> ranges;
  for (int64_t size : x) ranges.push_back({.count = size});
  marked(op.axes, std::ssize(x));
  for (size_t i = 0; i < given; ++i) {
    const auto axis = op.axes.empty() ? i : static_cast<size_t>(normalized_axis(op.axes[i], std::ssize(x)));
    const int64_t size = x[axis];
    // A longer step also takes one element; the clamped step cannot overflow in products.
    const int64_t step = op.steps.empty() ? 1 : std::clamp(op.steps[i], -size - 1, size + 1);
    if (step == 0) throw bad_input("the step of axis {} must not be 0", axis);
    const auto from_front = [&](int64_t place) { return place < 0 ? place + size : place; };
    const int64_t first = step > 0 ? 0 : -1, last = step > 0 ? size : size - 1;
    const int64_t start = std::clamp(from_front(op.starts[i]), int64_t{0}, std::max<int64_t>(last, 0));
    const int64_t end = std::clamp(from_front(op.ends[i]), first, std::max(last, first));
    const int64_t length = step > 0 ? end - start : start - end;
    if (length < 1 && !may_be_empty) throw bad_input("the slice of axis {} of shape {} is empty", axis, to_text(x));
    ranges[axis] = {.start = start, .step = step, .count = ceil_div(std::max<int64_t>(length, 0), std::abs(step))};
  }
  return ranges;
}

Shape shape_of(const SliceOp& op, Shapes inputs) {
  Shape y;
  for (const SliceRange& range : slice_ranges(op, inputs[0])) y.push_back(range.count);
  return y;
}

Shape shape_of(const ExpandOp& op, Shapes inputs) {
  const bool follows_images = std::ranges::count(op.shape, ExpandOp::kImages) > 0;
  if (follows_images != (inputs.size() == 2)) {
    throw bad_input("{}", follows_images ? "the shape depends on the batch size, but the input that has it is missing"
                                         : "unexpected second input: the shape does not depend on the batch size");
  }
  if (follows_images) check_rank(inputs[1], 1);
  Shape wanted = op.shape;
  for (int64_t& size : wanted) {
    if (size == -1) size = 1;
    if (size == ExpandOp::kImages) size = checked_mul(op.per_image, inputs[1][0]);
    check_range("a size", size, 1);
  }
  return broadcast_shape(inputs[0], wanted);
}

Shape shape_of(const TileOp& op, Shapes inputs) {
  Shape y = inputs[0];
  if (op.repeats.size() != y.size()) {
    throw bad_input("expected {} repeats, one for each dimension, got {}", y.size(), op.repeats.size());
  }
  for (size_t i = 0; i < y.size(); ++i) {
    check_range("a repeat", op.repeats[i], 1);
    y[i] = checked_mul(y[i], op.repeats[i]);
  }
  return y;
}

Shape shape_of(const DepthToSpaceOp& op, Shapes inputs) {
  const Shape& x = inputs[0];
  check_image(x);
  check_range("the block size", op.block, 1);
  const int64_t area = checked_mul(op.block, op.block);
  if (x[1] % area != 0) throw bad_input("channels ({}) must be a multiple of the block size squared ({})", x[1], area);
  return {x[0], x[1] / area, checked_mul(x[2], op.block), checked_mul(x[3], op.block)};
}

Shape shape_of(const SpaceToDepthOp& op, Shapes inputs) {
  const Shape& x = inputs[0];
  check_image(x);
  check_range("the block size", op.block, 1);
  if (x[2] % op.block != 0 || x[3] % op.block != 0) {
    throw bad_input("height and width ({}x{}) must be multiples of the block size ({})", x[2], x[3], op.block);
  }
  return {x[0], checked_mul(x[1], checked_mul(op.block, op.block)), x[2] / op.block, x[3] / op.block};
}

Shape shape_of(const TriluOp&, Shapes inputs) {
  check_rank(inputs[0], 2);
  return inputs[0];
}

}  // namespace convlab
