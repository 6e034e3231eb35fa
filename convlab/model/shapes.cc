#include "convlab/model/shapes.h"

#include <algorithm>
#include <optional>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/model/limits.h"

namespace convlab {
namespace {

/// Bounds strides, kernels and paddings so that sums of a few of them stay exact; ConvProblem has the same limit.
constexpr int64_t kMostSize = int64_t{1} << 31;

struct Padding {
  int64_t before = 0, after = 0;
};

/// ONNX: output = ceil(size / stride), and as much padding as that needs.
Padding automatic_padding(AutoPad mode, int64_t size, int64_t kernel, int64_t stride, int64_t dilation) {
  if (mode == AutoPad::valid) return {};
  const int64_t reach = checked_add(checked_mul(kernel - 1, dilation), 1);
  const int64_t used = checked_add(checked_mul(ceil_div(size, stride) - 1, stride), reach);
  const int64_t total = std::max<int64_t>(used - size, 0);
  const int64_t half = total / 2;
  return mode == AutoPad::same_upper ? Padding{half, total - half} : Padding{total - half, half};
}

void check_range(const char* name, int64_t value, int64_t least) {
  if (value < least || value > kMostSize) {
    throw bad_input("{} is {}; it must be {} to {}", name, value, least, kMostSize);
  }
}

void check_image(const Shape& x) {
  if (x.size() != 4) {
    throw bad_input("its input of shape {} has {} dimensions; only N x C x H x W is supported", to_text(x), x.size());
  }
}

void check_rank(const Shape& x, size_t least) {
  if (x.size() < least) throw bad_input("its input of shape {} has too few dimensions", to_text(x));
}

void check_vector(const char* name, const Shape& shape, int64_t count) {
  if (shape != Shape{count}) {
    throw bad_input("{} of shape {} does not fit; it must have {} elements", name, to_text(shape), count);
  }
}

Shape shape_of(const ConvOp& op, std::span<const Shape> inputs) {
  const ConvProblem problem = conv_problem(op, inputs[0], inputs[1]);
  if (inputs.size() == 3) check_vector("the bias", inputs[2], problem.k);
  return problem.output_shape();
}

Shape shape_of(const PoolOp& op, std::span<const Shape> inputs) {
  const Shape& x = inputs[0];
  const Pool pool = resolved_pool(op, x);
  return {x[0], x[1], pool.output_h(x[2]), pool.output_w(x[3])};
}

Shape shape_of(const GlobalAveragePoolOp&, std::span<const Shape> inputs) {
  check_image(inputs[0]);
  return {inputs[0][0], inputs[0][1], 1, 1};
}

Shape shape_of(const ActivationOp&, std::span<const Shape> inputs) { return inputs[0]; }
Shape shape_of(const RoundOp&, std::span<const Shape> inputs) { return inputs[0]; }

Shape shape_of(const BatchNormOp&, std::span<const Shape> inputs) {
  check_rank(inputs[0], 2);
  const char* const names[] = {"the input", "the scale", "the shift", "the mean", "the variance"};
  for (size_t i = 1; i < 5; ++i) check_vector(names[i], inputs[i], inputs[0][1]);
  return inputs[0];
}

Shape shape_of(const GemmOp& op, std::span<const Shape> inputs) {
  const Shape &a = inputs[0], &b = inputs[1];
  if (a.size() != 2 || b.size() != 2) {
    throw bad_input("it multiplies matrices, and its inputs have the shapes {} and {}", to_text(a), to_text(b));
  }
  const auto [m, depth] = op.transpose_a ? std::pair(a[1], a[0]) : std::pair(a[0], a[1]);
  const auto [depth_b, n] = op.transpose_b ? std::pair(b[1], b[0]) : std::pair(b[0], b[1]);
  if (depth != depth_b) {
    throw bad_input("{}{} and {}{} do not fit: {} columns against {} rows", to_text(a), op.transpose_a ? "'" : "",
                    to_text(b), op.transpose_b ? "'" : "", depth, depth_b);
  }
  const Shape y{m, n};
  if (inputs.size() == 3 && (inputs[2].size() > 2 || broadcast_shape(inputs[2], y) != y)) {
    throw bad_input("C of shape {} does not broadcast to {}", to_text(inputs[2]), to_text(y));
  }
  return y;
}

Shape shape_of(const MatMulOp&, std::span<const Shape> inputs) {
  Shape a = inputs[0], b = inputs[1];
  check_rank(a, 1);
  check_rank(b, 1);
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (a.back() != b[b.size() - 2]) {
    throw bad_input("{} and {} do not fit: {} columns against {} rows", to_text(inputs[0]), to_text(inputs[1]),
                    a.back(), b[b.size() - 2]);
  }
  Shape y = broadcast_shape({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!row) y.push_back(a[a.size() - 2]);
  if (!column) y.push_back(b.back());
  return y;
}

Shape shape_of(const AddOp&, std::span<const Shape> inputs) { return broadcast_shape(inputs[0], inputs[1]); }
Shape shape_of(const MulOp&, std::span<const Shape> inputs) { return broadcast_shape(inputs[0], inputs[1]); }

Shape shape_of(const ConcatOp& op, std::span<const Shape> inputs) {
  Shape y = inputs[0];
  const size_t axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(y)));
  for (const Shape& next : inputs.subspan(1)) {
    Shape other = next;
    if (other.size() == y.size()) other[axis] = y[axis];
    if (other != y) {
      throw bad_input("shapes {} and {} differ in more than axis {}", to_text(inputs[0]), to_text(next), axis);
    }
    y[axis] = checked_add(y[axis], next[axis]);
  }
  return y;
}

Shape shape_of(const FlattenOp& op, std::span<const Shape> inputs) {
  const Shape& x = inputs[0];
  const int64_t rank = std::ssize(x);
  const int64_t axis = op.axis == rank ? rank : normalized_axis(op.axis, rank);  // the end is allowed, too
  return {element_count({x.begin(), x.begin() + axis}), element_count({x.begin() + axis, x.end()})};
}

Shape shape_of(const ReshapeOp& op, std::span<const Shape> inputs) {
  const Shape& x = inputs[0];
  const auto fail = [&](const char* reason) {
    throw bad_input("shape {} cannot become {}: {}", to_text(x), to_text(op.shape), reason);
  };
  Shape y = op.shape;
  std::optional<size_t> open;
  for (size_t i = 0; i < y.size(); ++i) {
    if (y[i] == 0) {
      if (i >= x.size()) fail("0 copies a dimension that is not there");
      y[i] = x[i];
    } else if (y[i] == -1) {
      if (open) fail("-1 may stand once");
      open = i;
      y[i] = 1;
    } else if (y[i] < 0) {
      fail("a size is negative");
    }
  }
  const int64_t have = element_count(x), want = element_count(y);
  if (open) {
    if (want == 0) fail("it has no elements, and -1 could be any size");
    if (have % want != 0) fail("the rest is not a whole number");
    y[*open] = have / want;
  } else if (have != want) {
    fail("the numbers of elements differ");
  }
  return y;
}

/// Which of `rank` dimensions the axes name; each at most once.
std::vector<bool> marked(const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<bool> marks(static_cast<size_t>(rank));
  for (int64_t axis : axes) {
    const size_t at = static_cast<size_t>(normalized_axis(axis, rank));
    if (marks[at]) throw bad_input("axis {} is given twice", axis);
    marks[at] = true;
  }
  return marks;
}

Shape shape_of(const SqueezeOp& op, std::span<const Shape> inputs) {
  const Shape& x = inputs[0];
  const std::vector<bool> squeezed = marked(op.axes, std::ssize(x));
  Shape y;
  for (size_t i = 0; i < x.size(); ++i) {
    if (op.axes.empty() ? x[i] != 1 : !squeezed[i]) {
      y.push_back(x[i]);
    } else if (x[i] != 1) {
      throw bad_input("axis {} of shape {} is not 1", i, to_text(x));
    }
  }
  return y;
}

Shape shape_of(const UnsqueezeOp& op, std::span<const Shape> inputs) {
  const Shape& x = inputs[0];
  const std::vector<bool> added = marked(op.axes, std::ssize(x) + std::ssize(op.axes));
  Shape y;
  auto next = x.begin();
  for (bool add : added) y.push_back(add ? 1 : *next++);
  return y;
}

Shape shape_of(const TransposeOp& op, std::span<const Shape> inputs) {
  const Shape& x = inputs[0];
  if (op.permutation.empty()) return {x.rbegin(), x.rend()};
  Shape y;
  for (int64_t axis : op.permutation) {
    if (axis < 0 || axis >= std::ssize(x)) throw bad_input("axis {} does not exist in shape {}", axis, to_text(x));
    y.push_back(x[static_cast<size_t>(axis)]);
  }
  marked(op.permutation, std::ssize(x));
  if (y.size() != x.size()) {
    throw bad_input("the permutation has {} axes and the input {}", y.size(), x.size());
  }
  return y;
}

Shape shape_of(const SoftmaxOp& op, std::span<const Shape> inputs) {
  normalized_axis(op.axis, std::ssize(inputs[0]));
  return inputs[0];
}

Shape shape_of(const PadOp& op, std::span<const Shape> inputs) {
  const Shape& x = inputs[0];
  if (op.pads.size() != 2 * x.size()) {
    throw bad_input("{} pads are given for an input of {} dimensions; it takes two each", op.pads.size(), x.size());
  }
  Shape y;
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t before = op.pads[i], after = op.pads[x.size() + i];
    check_range("a pad", before, -kMostSize);
    check_range("a pad", after, -kMostSize);
    const int64_t kept = checked_add(x[i], std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0));
    if (kept < 1) throw bad_input("cropping leaves nothing of axis {} of shape {}", i, to_text(x));
    if (op.mode == PadMode::reflect && std::max(before, after) >= kept) {
      throw bad_input("axis {} of shape {} is too short to reflect {} elements", i, to_text(x),
                      std::max(before, after));
    }
    y.push_back(checked_add(kept, std::max<int64_t>(before, 0) + std::max<int64_t>(after, 0)));
  }
  return y;
}

Shape shape_of(const ScaleOp& op, std::span<const Shape> inputs) {
  check_image(inputs[0]);
  check_range("the side", op.side, 1);
  return {inputs[0][0], inputs[0][1], op.side, op.side};
}

Shape shape_of(const ArgMaxOp&, std::span<const Shape> inputs) {
  if (inputs[0].empty()) throw bad_input("its input is a single number; it takes images");
  return {inputs[0][0]};
}

struct Arity {
  size_t least, most;
};

Arity arity(const Op& op) {
  if (std::holds_alternative<ConvOp>(op) || std::holds_alternative<GemmOp>(op)) return {2, 3};
  if (std::holds_alternative<BatchNormOp>(op)) return {5, 5};
  if (std::holds_alternative<ConcatOp>(op)) return {1, SIZE_MAX};
  const bool binary =
      std::holds_alternative<MatMulOp>(op) || std::holds_alternative<AddOp>(op) || std::holds_alternative<MulOp>(op);
  return binary ? Arity{2, 2} : Arity{1, 1};
}

}  // namespace

ConvProblem conv_problem(const ConvOp& op, const Shape& x, const Shape& w) {
  check_image(x);
  if (w.size() != 4) throw bad_input("its filters have the shape {}; only K x C x R x S is supported", to_text(w));
  ConvProblem problem{.n = x[0],
                      .c = x[1],
                      .h = x[2],
                      .w = x[3],
                      .k = w[0],
                      .r = w[2],
                      .s = w[3],
                      .pad_top = op.pad_top,
                      .pad_left = op.pad_left,
                      .pad_bottom = op.pad_bottom,
                      .pad_right = op.pad_right,
                      .stride_h = op.stride_h,
                      .stride_w = op.stride_w,
                      .dilation_h = op.dilation_h,
                      .dilation_w = op.dilation_w,
                      .groups = op.groups};
  if (op.auto_pad != AutoPad::explicit_pads) {
    for (int64_t stride : {op.stride_h, op.stride_w}) check_range("the stride", stride, 1);
    for (int64_t size : {x[2], x[3]}) check_range("the image's side", size, 1);
    const Padding h = automatic_padding(op.auto_pad, problem.h, problem.r, op.stride_h, op.dilation_h);
    const Padding v = automatic_padding(op.auto_pad, problem.w, problem.s, op.stride_w, op.dilation_w);
    problem.pad_top = h.before, problem.pad_bottom = h.after;
    problem.pad_left = v.before, problem.pad_right = v.after;
  }
  validate(problem);
  if (w[1] != problem.channels_per_group()) {
    throw bad_input("its filters of shape {} take {} channels in each of {} groups, and its input of shape {} has {}",
                    to_text(w), w[1], op.groups, to_text(x), problem.channels_per_group());
  }
  return problem;
}

Pool resolved_pool(const PoolOp& op, const Shape& x) {
  check_image(x);
  Pool pool = op.pool;
  for (int64_t size : {pool.kernel_h, pool.kernel_w}) check_range("the window", size, 1);
  for (int64_t size : {pool.stride_h, pool.stride_w}) check_range("the stride", size, 1);
  for (int64_t size : {pool.dilation_h, pool.dilation_w}) check_range("the dilation", size, 1);
  for (int64_t size : {x[2], x[3]}) check_range("the image's side", size, 1);
  if (op.auto_pad != AutoPad::explicit_pads) {
    const Padding h = automatic_padding(op.auto_pad, x[2], pool.kernel_h, pool.stride_h, pool.dilation_h);
    const Padding v = automatic_padding(op.auto_pad, x[3], pool.kernel_w, pool.stride_w, pool.dilation_w);
    pool.pad_top = h.before, pool.pad_bottom = h.after;
    pool.pad_left = v.before, pool.pad_right = v.after;
  }
  struct Axis {
    int64_t size, kernel, dilation, before, after;
  };
  for (const auto& [size, kernel, dilation, before, after] :
       {Axis{x[2], pool.kernel_h, pool.dilation_h, pool.pad_top, pool.pad_bottom},
        Axis{x[3], pool.kernel_w, pool.dilation_w, pool.pad_left, pool.pad_right}}) {
    check_range("a pad", std::min(before, after), 0);
    const int64_t most = std::max(before, after), reach = checked_add(checked_mul(kernel - 1, dilation), 1);
    // Otherwise a window can lie entirely in the padding, or step over the image, and then it has no maximum.
    if (op.auto_pad == AutoPad::explicit_pads && most >= kernel) {
      throw bad_input("a pad of {} is not smaller than the window of {}", most, kernel);
    }
    if (most > 0 && dilation > size) throw bad_input("a dilation of {} steps over the image of {}", dilation, size);
    if (reach > size + before + after) {
      throw bad_input("the window, {} with its dilation, is larger than the padded image, {}", reach,
                      size + before + after);
    }
  }
  if (pool.ceil_mode) {
    Pool floor = pool;
    floor.ceil_mode = false;
    if (floor.output_h(x[2]) == pool.output_h(x[2]) && floor.output_w(x[3]) == pool.output_w(x[3])) return floor;
  }
  return pool;
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
  if (axis < -rank || axis >= rank) throw bad_input("axis {} does not exist in {} dimensions", axis, rank);
  return axis < 0 ? axis + rank : axis;
}

Shape output_shape(const Op& op, std::span<const Shape> inputs) {
  const auto [least, most] = arity(op);
  if (inputs.size() < least || inputs.size() > most) {
    throw bad_input("it has {} inputs; it takes {}", inputs.size(),
                    least == most      ? fmt::format("{}", least)
                    : most == SIZE_MAX ? fmt::format("{} or more", least)
                                       : fmt::format("{} to {}", least, most));
  }
  Shape shape = std::visit([&](const auto& one) { return shape_of(one, inputs); }, op);
  if (shape.size() > kMostRank) {
    throw bad_input("its output has {} dimensions; {} are supported", shape.size(), kMostRank);
  }
  constexpr int64_t kElementBytes = 8;
  if (checked_mul(element_count(shape), kElementBytes) == 0) {
    throw bad_input("its output of shape {} has no elements", to_text(shape));
  }
  return shape;
}

}  // namespace convlab
