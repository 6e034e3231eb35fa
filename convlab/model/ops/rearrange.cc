// Concat, reshapes, slices and other rearrangements.

#include <algorithm>
#include <optional>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/model/op_info.h"
#include "convlab/model/op_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {

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

template <>
struct OpInfo<ConcatOp> {
  static const char* name(const ConcatOp&) { return "Concat"; }
  static constexpr Arity kInputs{1, SIZE_MAX};
  static constexpr auto usually_constant = kNone;
  static Shape shape(const ConcatOp& op, Shapes inputs) {
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
  static constexpr auto mixes_images = kAlongFirstAxis;
  static void fields(OpFields& to, ConcatOp& op) { to.add("axis", op.axis); }
  static std::vector<NamedOp> names() { return {{"concat", ConcatOp{}}}; }
};

template <>
struct OpInfo<FlattenOp> {
  static const char* name(const FlattenOp&) { return "Flatten"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const FlattenOp& op, Shapes inputs) {
    const Shape& x = inputs[0];
    const int64_t rank = std::ssize(x);
    const int64_t axis = op.axis == rank ? rank : normalized_axis(op.axis, rank);  // the end is also allowed
    return {element_count({x.begin(), x.begin() + axis}), element_count({x.begin() + axis, x.end()})};
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, FlattenOp& op) { to.add("axis", op.axis); }
  static std::vector<NamedOp> names() { return {{"flatten", FlattenOp{}}}; }
};

template <>
struct OpInfo<ReshapeOp> {
  static const char* name(const ReshapeOp&) { return "Reshape"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const ReshapeOp& op, Shapes inputs) {
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
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, ReshapeOp& op) { to.add("shape", op.shape); }
  static std::vector<NamedOp> names() { return {{"reshape", ReshapeOp{}}}; }
};

template <>
struct OpInfo<SqueezeOp> {
  static const char* name(const SqueezeOp&) { return "Squeeze"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const SqueezeOp& op, Shapes inputs) {
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
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, SqueezeOp& op) { to.add("axes", op.axes); }
  static std::vector<NamedOp> names() { return {{"squeeze", SqueezeOp{}}}; }
};

template <>
struct OpInfo<UnsqueezeOp> {
  static const char* name(const UnsqueezeOp&) { return "Unsqueeze"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const UnsqueezeOp& op, Shapes inputs) {
    const Shape& x = inputs[0];
    const std::vector<bool> added = marked(op.axes, std::ssize(x) + std::ssize(op.axes));
    Shape y;
    auto next = x.begin();
    for (bool add : added) y.push_back(add ? 1 : *next++);
    return y;
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, UnsqueezeOp& op) { to.add("axes", op.axes); }
  static std::vector<NamedOp> names() { return {{"unsqueeze", UnsqueezeOp{}}}; }
};

template <>
struct OpInfo<TransposeOp> {
  static const char* name(const TransposeOp&) { return "Transpose"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const TransposeOp& op, Shapes inputs) {
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
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, TransposeOp& op) { to.add("perm", op.permutation); }
  static std::vector<NamedOp> names() { return {{"transpose", TransposeOp{}}}; }
};

template <>
struct OpInfo<PadOp> {
  static const char* name(const PadOp&) { return "Pad"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const PadOp& op, Shapes inputs) {
    const Shape& x = inputs[0];
    if (op.pads.size() != 2 * x.size()) {
      throw bad_input("expected {} pads, two for each of {} dimensions, got {}", 2 * x.size(), x.size(),
                      op.pads.size());
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
  static bool mixes_images(const PadOp& op, const SplitOperands& inputs) {
    return op.pads[0] != 0 || op.pads[inputs[0].shape.size()] != 0;
  }
  static void fields(OpFields& to, PadOp& op) {
    to.add("pads", op.pads);
    to.add_choice(op.mode, {"constant", "reflect", "edge", "wrap"});
    to.add("value", op.value);
  }
  static std::vector<NamedOp> names() { return {{"pad", PadOp{}}}; }
};

template <>
struct OpInfo<SliceOp> {
  static const char* name(const SliceOp&) { return "Slice"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const SliceOp& op, Shapes inputs) {
    Shape y;
    for (const SliceRange& range : slice_ranges(op, inputs[0])) y.push_back(range.count);
    return y;
  }
  /// The slice must keep all images, however many, in order.
  static bool mixes_images(const SliceOp& op, const SplitOperands& inputs) {
    constexpr int64_t kBeyond = INT32_MAX;
    for (size_t i = 0; i < op.starts.size(); ++i) {
      const bool first = op.axes.empty() ? i == 0 : is_first(op.axes[i], inputs[0].shape);
      const bool all = op.starts[i] == 0 && op.ends[i] >= kBeyond && (op.steps.empty() || op.steps[i] == 1);
      if (first && !all) return true;
    }
    return false;
  }
  static void fields(OpFields& to, SliceOp& op) {
    to.add("starts", op.starts);
    to.add("ends", op.ends);
    to.add("axes", op.axes);
    to.add("steps", op.steps);
  }
  static std::vector<NamedOp> names() { return {{"slice", SliceOp{}}}; }
};

template <>
struct OpInfo<ExpandOp> {
  static const char* name(const ExpandOp&) { return "Expand"; }
  static constexpr Arity kInputs{1, 2};
  static constexpr auto usually_constant = kNone;
  static Shape shape(const ExpandOp& op, Shapes inputs) {
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
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, ExpandOp& op) {
    to.add("shape", op.shape);
    to.add("perimage", op.per_image);
  }
  static std::vector<NamedOp> names() { return {{"expand", ExpandOp{}}}; }
};

template <>
struct OpInfo<TileOp> {
  static const char* name(const TileOp&) { return "Tile"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const TileOp& op, Shapes inputs) {
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
  static bool mixes_images(const TileOp& op, const SplitOperands&) { return op.repeats[0] != 1; }
  static void fields(OpFields& to, TileOp& op) { to.add("repeats", op.repeats); }
  static std::vector<NamedOp> names() { return {{"tile", TileOp{}}}; }
};

template <>
struct OpInfo<DepthToSpaceOp> {
  static const char* name(const DepthToSpaceOp&) { return "DepthToSpace"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const DepthToSpaceOp& op, Shapes inputs) {
    const Shape& x = inputs[0];
    check_image(x);
    check_range("the block size", op.block, 1);
    const int64_t area = checked_mul(op.block, op.block);
    if (x[1] % area != 0)
      throw bad_input("channels ({}) must be a multiple of the block size squared ({})", x[1], area);
    return {x[0], x[1] / area, checked_mul(x[2], op.block), checked_mul(x[3], op.block)};
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, DepthToSpaceOp& op) {
    to.add("block", op.block);
    to.add_flag("crd", op.columns_rows_depth);
  }
  static std::vector<NamedOp> names() { return {{"depthtospace", DepthToSpaceOp{}, &kImageLetters}}; }
};

template <>
struct OpInfo<SpaceToDepthOp> {
  static const char* name(const SpaceToDepthOp&) { return "SpaceToDepth"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const SpaceToDepthOp& op, Shapes inputs) {
    const Shape& x = inputs[0];
    check_image(x);
    check_range("the block size", op.block, 1);
    if (x[2] % op.block != 0 || x[3] % op.block != 0) {
      throw bad_input("height and width ({}x{}) must be multiples of the block size ({})", x[2], x[3], op.block);
    }
    return {x[0], checked_mul(x[1], checked_mul(op.block, op.block)), x[2] / op.block, x[3] / op.block};
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, SpaceToDepthOp& op) { to.add("block", op.block); }
  static std::vector<NamedOp> names() { return {{"spacetodepth", SpaceToDepthOp{}, &kImageLetters}}; }
};

template <>
struct OpInfo<TriluOp> {
  static const char* name(const TriluOp&) { return "Trilu"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const TriluOp&, Shapes inputs) {
    check_rank(inputs[0], 2);
    return inputs[0];
  }
  static bool mixes_images(const TriluOp&, const SplitOperands& inputs) { return inputs[0].shape.size() < 3; }
  static void fields(OpFields& to, TriluOp& op) {
    to.add_flag("lower", op.upper);
    to.add("k", op.k);
  }
  static std::vector<NamedOp> names() { return {{"trilu", TriluOp{}}}; }
};

template <>
std::vector<OpEntry> OpEntry::rows<RearrangeOps>() {
  return rows_of<OpEntry>(RearrangeOps());
}

}  // namespace convlab
