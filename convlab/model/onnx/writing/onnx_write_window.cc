// Writes convolution, pooling and sampling to ONNX.

#include <algorithm>

#include "convlab/model/onnx/writing/onnx_writers.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

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

void write_conv(OnnxNodeWriter& node, const ConvOp& op) {
  node.integers("strides", {op.stride_h, op.stride_w});
  node.integers("dilations", {op.dilation_h, op.dilation_w});
  node.integer("group", op.groups);
  write_padding(node, op.auto_pad, op);
}

void write(OnnxNodeWriter& node, const ConvOp& op) { write_conv(node, op); }

void write(OnnxNodeWriter& node, const ConvTransposeOp& op) {
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

void write(OnnxNodeWriter& node, const PoolOp& op) {
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

void write(OnnxNodeWriter& node, const MaxPoolIndicesOp& op) {
  write(node, PoolOp{.pool = op.pool, .auto_pad = op.auto_pad});
  if (op.columns_first) node.integer("storage_order", 1);
  node.unread_output("maxima");
  node.gives(onnx::TensorProto::INT64);
}

void write(OnnxNodeWriter& node, const MaxUnpoolOp& op) {
  write_window(node, op.pool);
  node.integers("pads", {op.pool.pad_top, op.pool.pad_left, op.pool.pad_bottom, op.pool.pad_right});
  node.operand();
  node.operand(onnx::TensorProto::INT64);
  if (!op.output_shape.empty()) node.integer_input("output_shape", op.output_shape);
}

void write(OnnxNodeWriter& node, const LpPoolOp& op) {
  write_window(node, op.pool);
  if (dilated(op.pool)) node.integers("dilations", {op.pool.dilation_h, op.pool.dilation_w});
  const bool ceil_mode = rounds_up(node, op.pool, op.auto_pad);
  if (ceil_mode) node.integer("ceil_mode", 1);
  if (dilated(op.pool) || ceil_mode) node.need_opset(21);
  node.integer("p", op.p);
  write_padding(node, op.auto_pad, op.pool);
}

void write(OnnxNodeWriter&, const GlobalAveragePoolOp&) {}

void write(OnnxNodeWriter& node, const LrnOp& op) {
  node.real("alpha", op.alpha);
  node.real("beta", op.beta);
  node.real("bias", op.bias);
  node.integer("size", op.size);
}

// ---- Sampling ----

namespace {

const char* text_of(SampleMode mode) {
  constexpr const char* kTexts[] = {"nearest", "linear", "cubic"};
  return kTexts[static_cast<int>(mode)];
}

/// Returns a Resize of only the axes that shrink. Axes that shrink and axes that grow need different rounding rules.
ResizeOp shrinking_part(const ResizeOp& op) {
  ResizeOp part = op;
  for (float& scale : part.scales) scale = std::min(scale, 1.0f);
  part.nearest = NearestRule::ceil;
  return part;
}

ResizeOp growing_part(const ResizeOp& op) {
  ResizeOp part = op;
  for (float& scale : part.scales) scale = std::max(scale, 1.0f);
  part.nearest = NearestRule::floor;
  return part;
}

}  // namespace

void write(OnnxNodeWriter& node, const ResizeOp& op) {
  if (op.nearest == NearestRule::simple) {
    const bool shrinks =
        op.mode == SampleMode::nearest && std::ranges::any_of(op.scales, [](float s) { return s < 1; });
    const bool grows = std::ranges::any_of(op.scales, [](float s) { return s > 1; });
    if (!shrinks) return write(node, growing_part(op));
    if (!grows) return write(node, shrinking_part(op));
    const std::string between = node.file().fresh(node.file().name(node.node().output) + ".shrunk");
    OnnxNodeWriter before(node.file(), node.node());
    write(before, shrinking_part(op));
    before.done_as(between);
    node.operand_as(between);
    return write(node, growing_part(op));
  }
  constexpr const char* kCoordinates[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                          "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
  constexpr const char* kNearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  constexpr const char* kRatios[] = {"stretch", "not_larger", "not_smaller"};
  node.need_opset(21);
  node.text("mode", text_of(op.mode));
  node.text("coordinate_transformation_mode", kCoordinates[static_cast<int>(op.coordinates)]);
  if (op.mode == SampleMode::nearest) node.text("nearest_mode", kNearest[static_cast<int>(op.nearest)]);
  if (op.mode == SampleMode::cubic) node.real("cubic_coeff_a", op.cubic_coeff_a);
  if (op.aspect_ratio != AspectRatio::stretch) {
    node.text("keep_aspect_ratio_policy", kRatios[static_cast<int>(op.aspect_ratio)]);
  }
  if (op.exclude_outside) node.integer("exclude_outside", 1);
  if (op.antialias) node.integer("antialias", 1);
  if (op.extrapolation_value != 0) node.real("extrapolation_value", op.extrapolation_value);
  if (!op.axes.empty()) node.integers("axes", op.axes);
  if (op.roi.empty()) {
    node.no_input();
  } else {
    node.reals_input("roi", op.roi);
  }
  if (!op.scales.empty()) return node.reals_input("scales", op.scales);
  node.no_input();
  node.integer_input("sizes", op.sizes);
}

void write(OnnxNodeWriter& node, const GridSampleOp& op) {
  constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};
  node.need_opset(21);
  node.text("mode", text_of(op.mode));
  node.text("padding_mode", kPaddings[static_cast<int>(op.padding)]);
  node.integer("align_corners", op.align_corners);
}

}  // namespace convlab
