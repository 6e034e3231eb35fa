// Convolution, pooling and other windows over images.

#include <algorithm>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/model/op_info.h"
#include "convlab/model/op_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

struct Padding {
  int64_t before = 0, after = 0;
};

/// Computes the padding as ONNX does: output = ceil(size / stride), with as much padding as that needs.
Padding automatic_padding(AutoPad mode, int64_t size, int64_t kernel, int64_t stride, int64_t dilation) {
  if (mode == AutoPad::valid) return {};
  const int64_t reach = checked_add(checked_mul(kernel - 1, dilation), 1);
  const int64_t used = checked_add(checked_mul(ceil_div(size, stride) - 1, stride), reach);
  const int64_t total = std::max<int64_t>(used - size, 0);
  const int64_t half = total / 2;
  return mode == AutoPad::same_upper ? Padding{half, total - half} : Padding{total - half, half};
}

std::vector<Shape> conv_shapes(const Op& op, const LetterSizes& sizes) {
  return with_bias({images_of(sizes), filters_of(std::get<ConvOp>(op), sizes)}, sizes);
}
LetterSizes conv_sizes(const Op&, std::span<const Shape> shapes) {
  LetterSizes sizes = conv_sizes_of(shapes, 1);
  sizes.bias = shapes.size() == 3;
  return sizes;
}
constexpr SizeLetters kConvLetters{kConvPattern, kConvExample, true, false, conv_shapes, conv_sizes};

std::vector<Shape> conv_transpose_shapes(const Op& op, const LetterSizes& sizes) {
  const int64_t maps = per_group(sizes['k'], std::get<ConvTransposeOp>(op).groups);
  return with_bias({images_of(sizes), {sizes['c'], maps, sizes['r'], sizes['s']}}, sizes);
}
LetterSizes conv_transpose_sizes(const Op& op, std::span<const Shape> shapes) {
  LetterSizes sizes = conv_sizes(op, shapes);
  const int64_t groups = std::get<ConvTransposeOp>(op).groups;
  if (__builtin_mul_overflow(size_at(shapes, 1, 1), groups, &sizes['k'])) sizes['k'] = 0;
  return sizes;
}
constexpr SizeLetters kConvTransposeLetters{kConvPattern, kConvExample,          true,
                                            false,        conv_transpose_shapes, conv_transpose_sizes};

std::vector<Shape> two_image_shapes(const Op&, const LetterSizes& sizes) {
  return {images_of(sizes), images_of(sizes)};
}
constexpr SizeLetters kTwoImagesLetters{kImagePattern, kImageExample, false, false, two_image_shapes, image_sizes};

/// Throws if a block, with its gaps, is larger than the padded image.
void check_fits(int64_t reach, int64_t padded) {
  if (reach > padded) throw bad_input("dilated block ({}) is larger than the padded image ({})", reach, padded);
}

void add_pool(OpFields& to, auto& op) {
  to.add_window(op.pool.kernel_h, op.pool.kernel_w);
  to.add_steps(op.pool);
  to.add_flag("ceil", op.pool.ceil_mode);
  to.add_auto_pad(op.auto_pad);
}

}  // namespace

ConvProblem conv_problem(const ConvOp& op, const Shape& x, const Shape& w) {
  check_image(x);
  if (w.size() != 4) throw bad_input("expected filters of shape K x C x R x S, got {}", to_text(w));
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
    for (int64_t size : {x[2], x[3]}) check_range("the image size", size, 1);
    const Padding h = automatic_padding(op.auto_pad, problem.h, problem.r, op.stride_h, op.dilation_h);
    const Padding v = automatic_padding(op.auto_pad, problem.w, problem.s, op.stride_w, op.dilation_w);
    problem.pad_top = h.before, problem.pad_bottom = h.after;
    problem.pad_left = v.before, problem.pad_right = v.after;
  }
  validate(problem);
  if (w[1] != problem.channels_per_group()) {
    throw bad_input("filters of shape {} expect {} channels in each of {} groups, but input of shape {} has {}",
                    to_text(w), w[1], op.groups, to_text(x), problem.channels_per_group());
  }
  return problem;
}

Pool resolved_pool(const PoolOp& op, const Shape& x) {
  check_image(x);
  Pool pool = op.pool;
  for (int64_t size : {pool.kernel_h, pool.kernel_w}) check_range("the window size", size, 1);
  for (int64_t size : {pool.stride_h, pool.stride_w}) check_range("the stride", size, 1);
  for (int64_t size : {pool.dilation_h, pool.dilation_w}) check_range("the dilation", size, 1);
  for (int64_t size : {x[2], x[3]}) check_range("the image size", size, 1);
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
    // Otherwise a window could be entirely in the padding, or step over the image, and would have no maximum.
    if (op.auto_pad == AutoPad::explicit_pads && most >= kernel) {
      throw bad_input("padding ({}) must be smaller than the window ({})", most, kernel);
    }
    if (most > 0 && dilation > size)
      throw bad_input("dilation ({}) must not exceed the image size ({}) with padding", dilation, size);
    if (reach > size + before + after) {
      throw bad_input("dilated window ({}) is larger than the padded image ({})", reach, size + before + after);
    }
  }
  if (pool.ceil_mode) {
    Pool floor = pool;
    floor.ceil_mode = false;
    if (floor.output_h(x[2]) == pool.output_h(x[2]) && floor.output_w(x[3]) == pool.output_w(x[3])) return floor;
  }
  return pool;
}

TransposedConv transposed_conv(const ConvTransposeOp& op, const Shape& x, const Shape& w) {
  check_image(x);
  if (w.size() != 4) throw bad_input("expected filters of shape C x K x R x S, got {}", to_text(w));
  check_range("the number of groups", op.groups, 1);
  for (int64_t size : {x[2], x[3]}) check_range("the image size", size, 1);
  for (int64_t size : {w[1], w[2], w[3]}) check_range("the filter size", size, 1);
  if (w[0] != x[1] || x[1] % op.groups != 0) {
    throw bad_input("filters of shape {} expect {} channels in {} groups, but input of shape {} has {}", to_text(w),
                    w[0], op.groups, to_text(x), x[1]);
  }
  const auto resolved = [&](int64_t size, int64_t kernel, int64_t stride, int64_t dilation, int64_t before,
                            int64_t after, int64_t output_pad, int64_t output) {
    check_range("the stride", stride, 1);
    check_range("the dilation", dilation, 1);
    check_range("a pad", std::min(before, after), 0);
    check_range("a pad", std::max(before, after), 0);
    check_range("the output padding", output_pad, 0);
    check_range("the output size", output, 0);
    const int64_t reach = checked_add(checked_mul(kernel - 1, dilation), 1);
    const int64_t full = checked_add(checked_add(checked_mul(size - 1, stride), reach), output_pad);
    const bool same = op.auto_pad == AutoPad::same_upper || op.auto_pad == AutoPad::same_lower;
    if (output == 0 && same) output = checked_mul(size, stride);
    if (output == 0) {
      const Padding pad = op.auto_pad == AutoPad::valid ? Padding{} : Padding{before, after};
      output = full - pad.before - pad.after;
      if (output < 1) throw bad_input("padding ({} and {}) removes the whole output ({})", before, after, full);
      return std::pair(pad.before, output);
    }
    const int64_t total = std::max<int64_t>(full - output, 0);
    return std::pair(op.auto_pad == AutoPad::same_upper ? total / 2 : total - total / 2, output);
  };
  const auto [top, output_h] =
      resolved(x[2], w[2], op.stride_h, op.dilation_h, op.pad_top, op.pad_bottom, op.output_pad_h, op.output_h);
  const auto [left, output_w] =
      resolved(x[3], w[3], op.stride_w, op.dilation_w, op.pad_left, op.pad_right, op.output_pad_w, op.output_w);
  return {.pad_top = top, .pad_left = left, .output_h = output_h, .output_w = output_w};
}

Shape unpooled_shape(const MaxUnpoolOp& op, const Shape& x) {
  check_image(x);
  const auto undone = [](int64_t size, int64_t kernel, int64_t stride, int64_t before, int64_t after) {
    check_range("the image size", size, 1);
    check_range("the window size", kernel, 1);
    check_range("the stride", stride, 1);
    check_range("a pad", std::min(before, after), 0);
    check_range("a pad", std::max(before, after), 0);
    const int64_t full = checked_add(checked_mul(size - 1, stride), kernel);
    if (full - before - after < 1)
      throw bad_input("padding ({} and {}) removes the whole output ({})", before, after, full);
    return full - before - after;
  };
  const Pool& pool = op.pool;
  return {x[0], x[1], undone(x[2], pool.kernel_h, pool.stride_h, pool.pad_top, pool.pad_bottom),
          undone(x[3], pool.kernel_w, pool.stride_w, pool.pad_left, pool.pad_right)};
}

template <>
struct OpInfo<ConvOp> {
  static const char* name(const ConvOp&) { return "Conv"; }
  static constexpr Arity kInputs{2, 3};
  static constexpr auto usually_constant = kAllButFirst;
  static Shape shape(const ConvOp& op, Shapes inputs) {
    const ConvProblem problem = conv_problem(op, inputs[0], inputs[1]);
    if (inputs.size() == 3) check_vector("the bias", inputs[2], problem.k);
    return problem.output_shape();
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, ConvOp& op) { to.add_conv(op); }
  static std::vector<NamedOp> names() { return {{"conv", ConvOp{}, &kConvLetters}}; }
};

template <>
struct OpInfo<ConvTransposeOp> {
  static const char* name(const ConvTransposeOp&) { return "ConvTranspose"; }
  static constexpr Arity kInputs{2, 3};
  static constexpr auto usually_constant = kAllButFirst;
  static Shape shape(const ConvTransposeOp& op, Shapes inputs) {
    const TransposedConv conv = transposed_conv(op, inputs[0], inputs[1]);
    const int64_t maps = checked_mul(inputs[1][1], op.groups);
    if (inputs.size() == 3) check_vector("the bias", inputs[2], maps);
    return {inputs[0][0], maps, conv.output_h, conv.output_w};
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, ConvTransposeOp& op) {
    to.add_steps(op);
    to.add("g", op.groups);
    to.add_pair("outpad", op.output_pad_h, op.output_pad_w);
    to.add_pair("out", op.output_h, op.output_w);
    to.add_auto_pad(op.auto_pad);
  }
  static std::vector<NamedOp> names() { return {{"convtranspose", ConvTransposeOp{}, &kConvTransposeLetters}}; }
};

template <>
struct OpInfo<PoolOp> {
  static const char* name(const PoolOp& op) { return op.pool.kind == PoolKind::max ? "MaxPool" : "AveragePool"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const PoolOp& op, Shapes inputs) {
    const Shape& x = inputs[0];
    const Pool pool = resolved_pool(op, x);
    return {x[0], x[1], pool.output_h(x[2]), pool.output_w(x[3])};
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, PoolOp& op) {
    to.add_kind(op.pool.kind);
    add_pool(to, op);
    if (op.pool.kind == PoolKind::average) to.add_flag("includepad", op.pool.count_include_pad);
  }
  static std::vector<NamedOp> names() {
    return {{"maxpool", PoolOp{.pool = {.kind = PoolKind::max}}, &kImageLetters},
            {"avgpool", PoolOp{.pool = {.kind = PoolKind::average}}, &kImageLetters}};
  }
};

template <>
struct OpInfo<MaxPoolIndicesOp> {
  static const char* name(const MaxPoolIndicesOp&) { return "MaxPool"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const MaxPoolIndicesOp& op, Shapes inputs) {
    return OpInfo<PoolOp>::shape(PoolOp{.pool = op.pool, .auto_pad = op.auto_pad}, inputs);
  }
  static constexpr auto mixes_images = kAlways;
  static void fields(OpFields& to, MaxPoolIndicesOp& op) {
    add_pool(to, op);
    to.add_flag("columnsfirst", op.columns_first);
  }
  static std::vector<NamedOp> names() { return {{"maxpoolindices", MaxPoolIndicesOp{}, &kImageLetters}}; }
};

template <>
struct OpInfo<MaxUnpoolOp> {
  static const char* name(const MaxUnpoolOp&) { return "MaxUnpool"; }
  static constexpr Arity kInputs{2, 2};
  static constexpr auto usually_constant = kNone;
  static Shape shape(const MaxUnpoolOp& op, Shapes inputs) {
    Shape y = unpooled_shape(op, inputs[0]);
    if (inputs[1] != inputs[0]) {
      throw bad_input("indices must have the shape of the input, {}, got {}", to_text(inputs[0]), to_text(inputs[1]));
    }
    if (op.output_shape.empty()) return y;
    bool fits = op.output_shape.size() == 4;
    for (size_t i = 0; fits && i < 4; ++i) fits = op.output_shape[i] >= y[i];
    if (!fits)
      throw bad_input("output of shape {} does not fit in output_shape {}", to_text(y), to_text(op.output_shape));
    return op.output_shape;
  }
  static constexpr auto mixes_images = kAlways;
  static void fields(OpFields& to, MaxUnpoolOp& op) {
    to.add_window(op.pool.kernel_h, op.pool.kernel_w);
    to.add_pads(op.pool);
    to.add_pair("st", op.pool.stride_h, op.pool.stride_w);
    to.add("out", op.output_shape);
  }
  static std::vector<NamedOp> names() { return {{"maxunpool", MaxUnpoolOp{}, &kTwoImagesLetters}}; }
};

template <>
struct OpInfo<LpPoolOp> {
  static const char* name(const LpPoolOp&) { return "LpPool"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const LpPoolOp& op, Shapes inputs) {
    check_range("p", op.p, 1);
    return OpInfo<PoolOp>::shape(PoolOp{.pool = op.pool, .auto_pad = op.auto_pad}, inputs);
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, LpPoolOp& op) {
    add_pool(to, op);
    to.add("lp", op.p);
  }
  static std::vector<NamedOp> names() { return {{"lppool", LpPoolOp{}, &kImageLetters}}; }
};

template <>
struct OpInfo<GlobalAveragePoolOp> {
  static const char* name(const GlobalAveragePoolOp&) { return "GlobalAveragePool"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const GlobalAveragePoolOp&, Shapes inputs) {
    check_image(inputs[0]);
    return {inputs[0][0], inputs[0][1], 1, 1};
  }
  static constexpr auto mixes_images = kNever;
  static std::vector<NamedOp> names() { return {{"globalavgpool", GlobalAveragePoolOp{}, &kImageLetters}}; }
};

template <>
struct OpInfo<Col2ImOp> {
  static const char* name(const Col2ImOp&) { return "Col2Im"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const Col2ImOp& op, Shapes inputs) {
    const Shape& x = inputs[0];
    if (x.size() != 3) throw bad_input("expected an input of shape N x C*block x L, got {}", to_text(x));
    for (int64_t size : {op.image_h, op.image_w}) check_range("the image size", size, 1);
    for (int64_t size : {op.block_h, op.block_w}) check_range("the block size", size, 1);
    for (int64_t size : {op.stride_h, op.stride_w}) check_range("the stride", size, 1);
    for (int64_t size : {op.dilation_h, op.dilation_w}) check_range("the dilation", size, 1);
    for (int64_t pad : {op.pad_top, op.pad_left, op.pad_bottom, op.pad_right}) check_range("a pad", pad, 0);
    check_fits(op.dilation_h * (op.block_h - 1) + 1, op.image_h + op.pad_top + op.pad_bottom);
    check_fits(op.dilation_w * (op.block_w - 1) + 1, op.image_w + op.pad_left + op.pad_right);
    const int64_t area = checked_mul(op.block_h, op.block_w);
    if (x[1] % area != 0) throw bad_input("rows ({}) must be a multiple of the block's pixels ({})", x[1], area);
    if (x[2] != checked_mul(op.rows(), op.columns())) {
      throw bad_input("expected columns for {} x {} block positions, got {}", op.rows(), op.columns(), x[2]);
    }
    return {x[0], x[1] / area, op.image_h, op.image_w};
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, Col2ImOp& op) {
    to.add_pair("image", op.image_h, op.image_w);
    to.add_window(op.block_h, op.block_w);
    to.add_steps(op);
  }
  static std::vector<NamedOp> names() { return {{"col2im", Col2ImOp{}}}; }
};

template <>
std::vector<OpEntry> OpEntry::rows<WindowOps>() {
  return rows_of<OpEntry>(WindowOps());
}

}  // namespace convlab
