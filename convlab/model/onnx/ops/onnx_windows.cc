// Convolution, pooling and other windows in ONNX, for each opset.

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/onnx/ops/onnx_op.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Two sizes. For a one-dimensional window, h is 1, or 0 for pads.
struct Pair {
  int64_t h, w;
};

/// Reads a list with one number per dimension of the window.
Pair read_pair(const OnnxNode& node, std::string_view name, size_t dimensions, int64_t otherwise, int64_t flat = 1) {
  const std::vector<int64_t> values = node.integers(name);
  if (values.empty()) return {dimensions == 1 ? flat : otherwise, otherwise};
  if (values.size() != dimensions) {
    throw bad_input("attribute '{}' must have {} values (1 per window dimension), got {}", name, dimensions,
                    values.size());
  }
  return {dimensions == 1 ? flat : values[0], values.back()};
}

/// Returns the number of dimensions of a window. Throws unless it is 1 or 2.
size_t window_dimensions(size_t dimensions) {
  if (dimensions != 1 && dimensions != 2) {
    throw bad_input("the window has {} dimensions; only 1 and 2 are supported", dimensions);
  }
  return dimensions;
}

AutoPad read_auto_pad(const OnnxNode& node) {
  const std::string mode = node.text("auto_pad", "NOTSET");
  if (mode == "NOTSET") return AutoPad::explicit_pads;
  if (mode == "SAME_UPPER") return AutoPad::same_upper;
  if (mode == "SAME_LOWER") return AutoPad::same_lower;
  if (mode == "VALID") return AutoPad::valid;
  throw bad_input("auto_pad must be NOTSET, SAME_UPPER, SAME_LOWER or VALID, got '{}'", mode);
}

/// Reads strides and pads.
template <class Window>
void read_steps(const OnnxNode& node, size_t dimensions, Window& window) {
  const Pair stride = read_pair(node, "strides", dimensions, 1);
  window.stride_h = stride.h, window.stride_w = stride.w;
  std::vector<int64_t> pads = node.integers("pads");
  if (!pads.empty() && pads.size() != 2 * dimensions) {
    throw bad_input("attribute 'pads' must have {} values (2 per window dimension), got {}", 2 * dimensions,
                    pads.size());
  }
  if (pads.size() == 2) pads = {0, pads[0], 0, pads[1]};
  if (pads.size() == 4) {
    window.pad_top = pads[0], window.pad_left = pads[1], window.pad_bottom = pads[2], window.pad_right = pads[3];
  }
}

/// Reads strides, dilations, pads and auto_pad, which convolution and pooling share.
template <class Window>
void read_window(const OnnxNode& node, size_t dimensions, bool dilates, Window& window, AutoPad& auto_pad) {
  read_steps(node, dimensions, window);
  auto_pad = read_auto_pad(node);
  if (!dilates) return;
  const Pair dilation = read_pair(node, "dilations", dimensions, 1);
  window.dilation_h = dilation.h, window.dilation_w = dilation.w;
}

/// Reads a pooling window. Returns its number of dimensions.
size_t read_pool_window(const OnnxNode& node, bool dilates, Pool& pool, AutoPad& auto_pad) {
  const size_t kernel_size = node.integers("kernel_shape").size();
  if (kernel_size == 0) throw bad_input("attribute 'kernel_shape' is missing");
  const size_t dimensions = window_dimensions(kernel_size);
  const Pair kernel = read_pair(node, "kernel_shape", dimensions, 1);
  pool.kernel_h = kernel.h, pool.kernel_w = kernel.w;
  read_window(node, dimensions, dilates, pool, auto_pad);
  return dimensions;
}

OnnxMeaning read_average_pool(const OnnxNode& node) {
  node.check_inputs(1, 1);
  PoolOp op{.pool = {.kind = PoolKind::average}};
  const size_t dimensions = read_pool_window(node, node.opset() >= 19, op.pool, op.auto_pad);
  if (node.opset() >= 10) op.pool.ceil_mode = node.flag("ceil_mode", false);
  op.pool.count_include_pad = node.flag("count_include_pad", false);
  return windowed(node, dimensions, op, 1, {0});
}

OnnxMeaning read_max_pool(const OnnxNode& node) {
  node.check_inputs(1, 1);
  PoolOp op{.pool = {.kind = PoolKind::max}};
  const size_t dimensions = read_pool_window(node, node.opset() >= 10, op.pool, op.auto_pad);
  if (node.opset() >= 10) op.pool.ceil_mode = node.flag("ceil_mode", false);
  const bool columns_first = node.opset() >= 8 && node.flag("storage_order", false);
  if (!node.has_output(1)) return windowed(node, dimensions, op, 1, {0});
  OnnxRecipe recipe(1);
  const OnnxRecipe::Value x = dimensions == 1 ? recipe.add(UnsqueezeOp{{2}}, {0}) : 0;
  const MaxPoolIndicesOp indices{.pool = op.pool, .auto_pad = op.auto_pad, .columns_first = columns_first};
  for (const OnnxRecipe::Value value : {recipe.add(op, {x}), recipe.add(indices, {x}, onnx::TensorProto::INT64)}) {
    recipe.give(dimensions == 1 ? recipe.add(SqueezeOp{{2}}, {value}) : value);
  }
  return recipe;
}

/// Translates a global pool to a reduction. The mean of a 4-D input has an operator of its own.
OnnxMeaning read_global_pool(const OnnxNode& node, ReduceKind kind) {
  node.check_inputs(1, 1);
  const int64_t rank = node.rank(0);
  if (rank < 3) throw bad_input("global pooling requires at least 3 dimensions, got {}", rank);
  if (kind == ReduceKind::mean && rank == 4) return OnnxComputed{GlobalAveragePoolOp{}};
  ReduceOp op{.kind = kind};
  for (int64_t axis = 2; axis < rank; ++axis) op.axes.push_back(axis);
  return OnnxComputed{op};
}

OnnxMeaning read_global_average_pool(const OnnxNode& node) { return read_global_pool(node, ReduceKind::mean); }
OnnxMeaning read_global_max_pool(const OnnxNode& node) { return read_global_pool(node, ReduceKind::max); }
OnnxMeaning read_global_lp_pool(const OnnxNode& node) {
  const int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2) throw bad_input("p must be 1 or 2, got {}", p);
  return read_global_pool(node, p == 1 ? ReduceKind::l1 : ReduceKind::l2);
}

template <class Window>
void write_padding(OnnxNodeWriter& node, AutoPad auto_pad, const Window& window) {
  constexpr const char* kTexts[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
  if (auto_pad != AutoPad::explicit_pads) return node.text("auto_pad", kTexts[static_cast<int>(auto_pad)]);
  node.integers("pads", {window.pad_top, window.pad_left, window.pad_bottom, window.pad_right});
}

void write_window(OnnxNodeWriter& node, const Pool& pool) {
  node.integers("kernel_shape", {pool.kernel_h, pool.kernel_w});
  node.integers("strides", {pool.stride_h, pool.stride_w});
}

/// Whether the output's size is rounded up. Returns false if that makes no difference for this input: versions of ONNX
/// disagree about windows that would begin in the padding.
bool rounds_up(OnnxNodeWriter& node, const Pool& pool, AutoPad auto_pad) {
  const std::optional<Shape>& x = node.file().shape(node.node().inputs[0]);
  if (!pool.ceil_mode || !x || x->size() != 4 || (*x)[2] < 0 || (*x)[3] < 0) return pool.ceil_mode;
  Shape one = *x;
  one[0] = std::max<int64_t>(one[0], 1), one[1] = std::max<int64_t>(one[1], 1);
  return resolved_pool(PoolOp{.pool = pool, .auto_pad = auto_pad}, one).ceil_mode;
}

bool dilated(const Pool& pool) { return pool.dilation_h != 1 || pool.dilation_w != 1; }

}  // namespace

OnnxMeaning windowed(const OnnxNode& node, size_t dimensions, Op op, size_t operands,
                     std::initializer_list<size_t> images, std::optional<int32_t> type) {
  if (dimensions == 2) return OnnxComputed{std::move(op), operands, type};
  OnnxRecipe recipe(node.input_count());
  std::vector<OnnxRecipe::Value> values;
  for (size_t i = 0; i < operands; ++i) {
    const bool image = std::ranges::find(images, i) != images.end();
    values.push_back(image ? recipe.add(UnsqueezeOp{{2}}, {i}) : i);
  }
  recipe.give(recipe.add(SqueezeOp{{2}}, {recipe.add(std::move(op), values, type)}));
  return recipe;
}

size_t filter_dimensions(const OnnxNode& node, size_t i) {
  const int64_t rank = node.rank(i);
  const std::vector<int64_t> kernel = node.integers("kernel_shape");
  const size_t dimensions = window_dimensions(static_cast<size_t>(std::max<int64_t>(rank - 2, 0)));
  if (kernel.empty() || !node.input(i).shapes) return dimensions;
  const Shape& filter = (*node.input(i).shapes)[0];
  if (!std::ranges::equal(kernel, std::span(filter).subspan(2))) {
    throw bad_input("attribute 'kernel_shape' ({}) does not match weights '{}' ({})", fmt::join(kernel, "x"),
                    printable(node.input(i).name), to_text(filter));
  }
  return dimensions;
}

ConvOp read_conv_op(const OnnxNode& node, size_t dimensions) {
  ConvOp op;
  read_window(node, dimensions, true, op, op.auto_pad);
  op.groups = node.integer("group", 1);
  return op;
}

void write_conv(OnnxNodeWriter& node, const ConvOp& op) {
  node.integers("strides", {op.stride_h, op.stride_w});
  node.integers("dilations", {op.dilation_h, op.dilation_w});
  node.integer("group", op.groups);
  write_padding(node, op.auto_pad, op);
}

template <>
struct OnnxOp<ConvOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(2, 3);
    const size_t dimensions = filter_dimensions(node, 1);
    return windowed(node, dimensions, read_conv_op(node, dimensions), node.input_count(), {0, 1});
  }
  static OnnxReaders readers() { return {{"Conv", read}}; }
  static void write(OnnxNodeWriter& node, const ConvOp& op) { write_conv(node, op); }
};

template <>
struct OnnxOp<ConvTransposeOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(2, 3);
    const size_t dimensions = filter_dimensions(node, 1);
    ConvTransposeOp op;
    read_window(node, dimensions, true, op, op.auto_pad);
    op.groups = node.integer("group", 1);
    const Pair padding = read_pair(node, "output_padding", dimensions, 0, 0);
    op.output_pad_h = padding.h, op.output_pad_w = padding.w;
    const Pair output = read_pair(node, "output_shape", dimensions, 0);
    if (output.w > 0) op.output_h = output.h, op.output_w = output.w;
    return windowed(node, dimensions, op, node.input_count(), {0, 1});
  }
  static OnnxReaders readers() { return {{"ConvTranspose", read}}; }
  static void write(OnnxNodeWriter& node, const ConvTransposeOp& op) {
    node.integers("strides", {op.stride_h, op.stride_w});
    node.integers("dilations", {op.dilation_h, op.dilation_w});
    node.integer("group", op.groups);
    if (op.output_pad_h != 0 || op.output_pad_w != 0) {
      node.integers("output_padding", {op.output_pad_h, op.output_pad_w});
    }
    if (op.output_h == 0) return write_padding(node, op.auto_pad, op);
    node.integers("output_shape", {op.output_h, op.output_w});
    if (op.auto_pad != AutoPad::explicit_pads) write_padding(node, op.auto_pad, op);
  }
};

template <>
struct OnnxOp<PoolOp> {
  static OnnxReaders readers() { return {{"AveragePool", read_average_pool}, {"MaxPool", read_max_pool}}; }
  static void write(OnnxNodeWriter& node, const PoolOp& op) {
    write_window(node, op.pool);
    node.integer("ceil_mode", rounds_up(node, op.pool, op.auto_pad));
    const bool average = op.pool.kind == PoolKind::average;
    if (!average || dilated(op.pool)) node.integers("dilations", {op.pool.dilation_h, op.pool.dilation_w});
    if (average) {
      if (dilated(op.pool)) node.need_opset(21);
      node.integer("count_include_pad", op.pool.count_include_pad);
    }
    write_padding(node, op.auto_pad, op.pool);
  }
};

template <>
struct OnnxOp<MaxPoolIndicesOp> {
  static OnnxReaders readers() { return {}; }
  static void write(OnnxNodeWriter& node, const MaxPoolIndicesOp& op) {
    OnnxOp<PoolOp>::write(node, PoolOp{.pool = op.pool, .auto_pad = op.auto_pad});
    if (op.columns_first) node.integer("storage_order", 1);
    node.unread_output("maxima");
    node.gives(onnx::TensorProto::INT64);
  }
};

template <>
struct OnnxOp<MaxUnpoolOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(2, 3);
    MaxUnpoolOp op;
    AutoPad auto_pad = AutoPad::explicit_pads;
    const size_t dimensions = read_pool_window(node, false, op.pool, auto_pad);
    op.output_shape = node.constant_integers(2, "output_shape");
    if (dimensions == 1 && !op.output_shape.empty()) op.output_shape.insert(op.output_shape.begin() + 2, 1);
    return windowed(node, dimensions, op, 2, {0, 1});
  }
  static OnnxReaders readers() { return {{"MaxUnpool", read}}; }
  static void write(OnnxNodeWriter& node, const MaxUnpoolOp& op) {
    write_window(node, op.pool);
    node.integers("pads", {op.pool.pad_top, op.pool.pad_left, op.pool.pad_bottom, op.pool.pad_right});
    node.operand();
    node.operand(onnx::TensorProto::INT64);
    if (!op.output_shape.empty()) node.integer_input("output_shape", op.output_shape);
  }
};

template <>
struct OnnxOp<LpPoolOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(1, 1);
    LpPoolOp op{.p = node.integer("p", 2)};
    const size_t dimensions = read_pool_window(node, node.opset() >= 18, op.pool, op.auto_pad);
    if (node.opset() >= 18) op.pool.ceil_mode = node.flag("ceil_mode", false);
    return windowed(node, dimensions, op, 1, {0});
  }
  static OnnxReaders readers() { return {{"LpPool", read}}; }
  static void write(OnnxNodeWriter& node, const LpPoolOp& op) {
    write_window(node, op.pool);
    if (dilated(op.pool)) node.integers("dilations", {op.pool.dilation_h, op.pool.dilation_w});
    const bool ceil_mode = rounds_up(node, op.pool, op.auto_pad);
    if (ceil_mode) node.integer("ceil_mode", 1);
    if (dilated(op.pool) || ceil_mode) node.need_opset(21);
    node.integer("p", op.p);
    write_padding(node, op.auto_pad, op.pool);
  }
};

template <>
struct OnnxOp<GlobalAveragePoolOp> {
  static OnnxReaders readers() {
    return {{"GlobalAveragePool", read_global_average_pool},
            {"GlobalLpPool", read_global_lp_pool},
            {"GlobalMaxPool", read_global_max_pool}};
  }
  static void write(OnnxNodeWriter&, const GlobalAveragePoolOp&) {}
};

template <>
struct OnnxOp<Col2ImOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(3, 3);
    const std::vector<int64_t> image = node.constant_integers(1, "image_shape");
    const std::vector<int64_t> block = node.constant_integers(2, "block_shape");
    if (image.size() != 2 || block.size() != 2) {
      throw bad_input("only images of 2 dimensions are supported; image_shape has {} values, block_shape has {}",
                      image.size(), block.size());
    }
    Col2ImOp op{.image_h = image[0], .image_w = image[1], .block_h = block[0], .block_w = block[1]};
    read_steps(node, 2, op);
    const Pair dilation = read_pair(node, "dilations", 2, 1);
    op.dilation_h = dilation.h, op.dilation_w = dilation.w;
    return OnnxComputed{op};
  }
  static OnnxReaders readers() { return {{"Col2Im", read}}; }
  static void write(OnnxNodeWriter& node, const Col2ImOp& op) {
    node.need_opset(21);
    node.integers("strides", {op.stride_h, op.stride_w});
    node.integers("dilations", {op.dilation_h, op.dilation_w});
    node.integers("pads", {op.pad_top, op.pad_left, op.pad_bottom, op.pad_right});
    node.integer_input("image_shape", {op.image_h, op.image_w});
    node.integer_input("block_shape", {op.block_h, op.block_w});
  }
};

template <>
std::vector<OnnxOpEntry> OnnxOpEntry::rows<WindowOps>() {
  return rows_of<OnnxOpEntry>(WindowOps());
}

}  // namespace convlab
