// One function per operator: from ONNX's attributes and inputs, as each opset from 7 to 21 has them, to the graph's
// operator. Source: ONNX's Operators.md and Changelog.md.
#include "convlab/model/onnx_ops.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/onnx.pb.h"
#include "convlab/model/onnx_tensor.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

struct Pair {
  int64_t h, w;
};

/// A list of two numbers, height and width.
Pair read_pair(const OnnxNode& node, std::string_view name, int64_t otherwise) {
  const std::vector<int64_t> values = node.integers(name);
  if (values.empty()) return {otherwise, otherwise};
  if (values.size() != 2) {
    throw bad_input("attribute '{}' has {} numbers; only two dimensions, height and width, are supported", name,
                    values.size());
  }
  return {values[0], values[1]};
}

AutoPad read_auto_pad(const OnnxNode& node) {
  const std::string mode = node.text("auto_pad", "NOTSET");
  if (mode == "NOTSET") return AutoPad::explicit_pads;
  if (mode == "SAME_UPPER") return AutoPad::same_upper;
  if (mode == "SAME_LOWER") return AutoPad::same_lower;
  if (mode == "VALID") return AutoPad::valid;
  throw bad_input("auto_pad is '{}'; it must be NOTSET, SAME_UPPER, SAME_LOWER or VALID", mode);
}

/// kernel, strides, dilations, pads and auto_pad, which convolution and pooling share.
template <class Window>
void read_window(const OnnxNode& node, Window& window, AutoPad& auto_pad) {
  const Pair stride = read_pair(node, "strides", 1);
  window.stride_h = stride.h, window.stride_w = stride.w;
  std::vector<int64_t> pads = node.integers("pads");
  if (pads.empty()) pads = {0, 0, 0, 0};
  if (pads.size() != 4) {
    throw bad_input("attribute 'pads' has {} numbers; only two dimensions (top, left, bottom, right) are supported",
                    pads.size());
  }
  window.pad_top = pads[0], window.pad_left = pads[1], window.pad_bottom = pads[2], window.pad_right = pads[3];
  auto_pad = read_auto_pad(node);
}

template <class Window>
void read_dilations(const OnnxNode& node, Window& window) {
  const Pair dilation = read_pair(node, "dilations", 1);
  window.dilation_h = dilation.h, window.dilation_w = dilation.w;
}

OnnxMeaning read_conv(const OnnxNode& node) {
  node.check_inputs(2, 3);
  ConvOp op;
  read_window(node, op, op.auto_pad);
  read_dilations(node, op);
  op.groups = node.integer("group", 1);
  const Shape& w = node.constant(1, "its filter").shape();
  if (node.has_input(2)) node.constant(2, "its bias");
  const std::vector<int64_t> kernel = node.integers("kernel_shape");
  if (w.size() != 4) {
    throw bad_input("its filter '{}' has the shape {}; only two-dimensional convolution (K x C x R x S) is supported",
                    printable(node.input(1).name), to_text(w));
  }
  if (!kernel.empty() && kernel != std::vector<int64_t>{w[2], w[3]}) {
    throw bad_input("attribute 'kernel_shape' ({}) is not that of its filter '{}' ({})", fmt::join(kernel, "x"),
                    printable(node.input(1).name), to_text(w));
  }
  return OnnxComputed{op, node.input_count()};
}

OnnxMeaning read_pool(const OnnxNode& node, PoolKind kind) {
  node.check_inputs(1, 1);
  PoolOp op{.pool = {.kind = kind}};
  if (node.integers("kernel_shape").empty()) throw bad_input("attribute 'kernel_shape' is missing");
  const Pair kernel = read_pair(node, "kernel_shape", 1);
  op.pool.kernel_h = kernel.h, op.pool.kernel_w = kernel.w;
  read_window(node, op.pool, op.auto_pad);
  if (node.opset() >= 10) op.pool.ceil_mode = node.flag("ceil_mode", false);
  if (node.opset() >= (kind == PoolKind::max ? 10 : 19)) read_dilations(node, op.pool);
  if (kind == PoolKind::average) op.pool.count_include_pad = node.flag("count_include_pad", false);
  // The order of the indices that MaxPool may also give; the importer refuses them where something uses them.
  if (kind == PoolKind::max && node.opset() >= 8) node.flag("storage_order", false);
  return OnnxComputed{op};
}

OnnxMeaning read_max_pool(const OnnxNode& node) { return read_pool(node, PoolKind::max); }
OnnxMeaning read_average_pool(const OnnxNode& node) { return read_pool(node, PoolKind::average); }

OnnxMeaning read_global_average_pool(const OnnxNode& node) {
  node.check_inputs(1, 1);
  return OnnxComputed{GlobalAveragePoolOp{}};
}

template <ActivationKind kind>
OnnxMeaning read_plain_activation(const OnnxNode& node) {
  node.check_inputs(1, 1);
  return OnnxComputed{ActivationOp{{.kind = kind}}};
}

OnnxMeaning read_leaky_relu(const OnnxNode& node) {
  node.check_inputs(1, 1);
  return OnnxComputed{ActivationOp{{.kind = ActivationKind::leaky_relu, .alpha = node.real("alpha", 0.01f)}}};
}

OnnxMeaning read_clip(const OnnxNode& node) {
  Activation clip{.kind = ActivationKind::clip,
                  .alpha = std::numeric_limits<float>::lowest(),
                  .beta = std::numeric_limits<float>::max()};
  if (node.opset() < 11) {
    node.check_inputs(1, 1);
    clip.alpha = node.real("min", clip.alpha);
    clip.beta = node.real("max", clip.beta);
  } else {
    node.check_inputs(1, 3);
    clip.alpha = node.constant_real(1, "its minimum", clip.alpha);
    clip.beta = node.constant_real(2, "its maximum", clip.beta);
  }
  return OnnxComputed{ActivationOp{clip}};
}

OnnxMeaning read_batch_normalization(const OnnxNode& node) {
  node.check_inputs(5, 5);
  if (node.opset() < 9 && !node.flag("spatial", true)) throw bad_input("spatial = 0 is not supported");
  if (node.opset() >= 14 && node.flag("training_mode", false)) throw bad_input("training mode is not supported");
  node.ignore("momentum");  // of training
  for (size_t i = 1; i < 5; ++i) node.constant(i, "its parameter");
  return OnnxComputed{BatchNormOp{.epsilon = node.real("epsilon", 1e-5f)}, 5};
}

OnnxMeaning read_gemm(const OnnxNode& node) {
  node.check_inputs(node.opset() < 11 ? 3 : 2, 3);
  return OnnxComputed{GemmOp{.alpha = node.real("alpha", 1),
                             .beta = node.real("beta", 1),
                             .transpose_a = node.flag("transA", false),
                             .transpose_b = node.flag("transB", false)},
                      node.input_count()};
}

template <class BinaryOp>
OnnxMeaning read_binary(const OnnxNode& node) {
  node.check_inputs(2, 2);
  return OnnxComputed{BinaryOp{}, 2};
}

OnnxMeaning read_concat(const OnnxNode& node) {
  node.check_inputs(std::max<size_t>(node.input_count(), 1), SIZE_MAX);
  return OnnxComputed{ConcatOp{.axis = node.integer("axis")}, node.input_count()};
}

OnnxMeaning read_flatten(const OnnxNode& node) {
  node.check_inputs(1, 1);
  return OnnxComputed{FlattenOp{.axis = node.integer("axis", 1)}};
}

OnnxMeaning read_reshape(const OnnxNode& node) {
  node.check_inputs(2, 2);
  ReshapeOp op{.shape = node.constant_integers(1, "its shape")};
  const bool allow_zero = node.opset() >= 14 && node.flag("allowzero", false);
  if (allow_zero && std::ranges::find(op.shape, 0) != op.shape.end()) {
    throw bad_input("its shape {} (allowzero = 1) is that of a tensor without elements", fmt::join(op.shape, "x"));
  }
  return OnnxComputed{op};
}

/// Squeeze's and Unsqueeze's axes: an attribute before opset 13, an input since.
std::vector<int64_t> read_axes(const OnnxNode& node) {
  node.check_inputs(1, node.opset() < 13 ? 1 : 2);
  return node.opset() < 13 ? node.integers("axes") : node.constant_integers(1, "the list of axes");
}

OnnxMeaning read_squeeze(const OnnxNode& node) { return OnnxComputed{SqueezeOp{.axes = read_axes(node)}}; }

OnnxMeaning read_unsqueeze(const OnnxNode& node) {
  UnsqueezeOp op{.axes = read_axes(node)};
  if (node.opset() < 13 ? !node.has("axes") : !node.has_input(1)) throw bad_input("the list of axes is missing");
  return OnnxComputed{op};
}

OnnxMeaning read_transpose(const OnnxNode& node) {
  node.check_inputs(1, 1);
  return OnnxComputed{TransposeOp{.permutation = node.integers("perm")}};
}

OnnxMeaning read_softmax(const OnnxNode& node, bool log) {
  node.check_inputs(1, 1);
  SoftmaxOp op{.axis = node.integer("axis", node.opset() < 13 ? 1 : -1), .log = log, .flattened = node.opset() < 13};
  // Over the last dimension alone, both meanings are the same.
  if (op.flattened && (op.axis == -1 || (node.input(0).rank && op.axis == *node.input(0).rank - 1))) {
    op.flattened = false;
  }
  return OnnxComputed{op};
}

OnnxMeaning read_plain_softmax(const OnnxNode& node) { return read_softmax(node, false); }
OnnxMeaning read_log_softmax(const OnnxNode& node) { return read_softmax(node, true); }

OnnxMeaning read_identity(const OnnxNode& node) {
  node.check_inputs(1, 1);
  return OnnxPassed{node.input(0).type};
}

OnnxMeaning read_dropout(const OnnxNode& node) {
  if (node.opset() < 12) {
    node.check_inputs(1, 1);
    node.ignore("ratio");
  } else {
    node.check_inputs(1, 3);
    node.ignore("seed");
    if (node.has_input(2)) {
      const Tensor& training = node.constant(2, "training_mode");
      if (training.type() != ElementType::u8 || training.count() != 1) throw bad_input("training_mode is not one bool");
      if (training.values<uint8_t>()[0] != 0) throw bad_input("training mode is not supported");
    }
  }
  return OnnxPassed{node.input(0).type};
}

OnnxMeaning read_constant(const OnnxNode& node) {
  node.check_inputs(0, 0);
  if (node.has("value")) return node.tensor("value");
  if (node.has("value_float")) {
    const float value = node.real("value_float", 0);
    return Tensor::of<float>({}, {{value}});
  }
  if (node.has("value_floats")) {
    const std::vector<float> values = node.reals("value_floats");
    return Tensor::of<float>({std::ssize(values)}, values);
  }
  if (node.has("value_int")) {
    const int64_t value = node.integer("value_int");
    return Tensor::of<int64_t>({}, {{value}});
  }
  if (node.has("value_ints")) {
    const std::vector<int64_t> values = node.integers("value_ints");
    return Tensor::of<int64_t>({std::ssize(values)}, values);
  }
  throw bad_input("it has none of value, value_float, value_floats, value_int and value_ints, which are supported");
}

OnnxMeaning read_cast(const OnnxNode& node) {
  node.check_inputs(1, 1);
  const int64_t number = node.integer("to");
  if (node.opset() >= 19) node.ignore("saturate");  // of types that are refused here
  if (number < 0 || number > INT32_MAX) throw bad_input("its type is number {}, which is none", number);
  if (number == onnx::TensorProto::BOOL) throw bad_input("a Cast to bool is not supported");
  const OnnxValue& x = node.input(0);
  if (x.constant) return OnnxPassed{element_type(static_cast<int32_t>(number))};
  if (number == onnx::TensorProto::FLOAT) return OnnxPassed{ElementType::f32};
  if (number == onnx::TensorProto::FLOAT16) {
    if (x.type == ElementType::f32) return OnnxComputed{RoundOp{}};
    return OnnxPassed{ElementType::f16};  // float16 already, or pixels, which float16 holds exactly
  }
  throw bad_input("a Cast of computed values to {} is not supported; to float32 and float16 is",
                  onnx_type_name(static_cast<int32_t>(number)));
}

PadMode read_pad_mode(const OnnxNode& node) {
  const std::string mode = node.text("mode", "constant");
  if (mode == "constant") return PadMode::constant;
  if (mode == "reflect") return PadMode::reflect;
  if (mode == "edge") return PadMode::edge;
  throw bad_input("mode '{}' is not supported; constant, reflect and edge are", mode);
}

OnnxMeaning read_pad(const OnnxNode& node) {
  PadOp op{.mode = read_pad_mode(node)};
  if (node.opset() < 11) {
    node.check_inputs(1, 1);
    if (!node.has("pads")) throw bad_input("attribute 'pads' is missing");
    op.pads = node.integers("pads");
    op.value = node.real("value", 0);
    return OnnxComputed{op};
  }
  node.check_inputs(2, node.opset() < 18 ? 3 : 4);
  op.pads = node.constant_integers(1, "the list of pads");
  op.value = node.constant_real(2, "the value to pad with", 0);
  if (!node.has_input(3)) return OnnxComputed{op};

  // Pads of some axes only: the others get 0.
  std::vector<int64_t> axes = node.constant_integers(3, "the list of axes");
  if (!node.input(0).rank) {
    throw bad_input("how many dimensions its input has is not known here, so its axes mean nothing");
  }
  const int64_t rank = *node.input(0).rank;
  if (op.pads.size() != 2 * axes.size()) throw bad_input("{} pads are given for {} axes", op.pads.size(), axes.size());
  std::vector<int64_t> pads(static_cast<size_t>(2 * rank));
  std::vector<bool> given(static_cast<size_t>(rank));
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = static_cast<size_t>(normalized_axis(axes[i], rank));
    if (given[axis]) throw bad_input("axis {} is given twice", axes[i]);
    given[axis] = true;
    pads[axis] = op.pads[i];
    pads[static_cast<size_t>(rank) + axis] = op.pads[axes.size() + i];
  }
  op.pads = std::move(pads);
  return OnnxComputed{op};
}

struct Entry {
  std::string_view name;
  OnnxReader read;
};

constexpr Entry kReaders[] = {
    {"Add", read_binary<AddOp>},
    {"AveragePool", read_average_pool},
    {"BatchNormalization", read_batch_normalization},
    {"Cast", read_cast},
    {"Clip", read_clip},
    {"Concat", read_concat},
    {"Constant", read_constant},
    {"Conv", read_conv},
    {"Dropout", read_dropout},
    {"Flatten", read_flatten},
    {"Gemm", read_gemm},
    {"GlobalAveragePool", read_global_average_pool},
    {"Identity", read_identity},
    {"LeakyRelu", read_leaky_relu},
    {"LogSoftmax", read_log_softmax},
    {"MatMul", read_binary<MatMulOp>},
    {"MaxPool", read_max_pool},
    {"Mul", read_binary<MulOp>},
    {"Pad", read_pad},
    {"Relu", read_plain_activation<ActivationKind::relu>},
    {"Reshape", read_reshape},
    {"Sigmoid", read_plain_activation<ActivationKind::sigmoid>},
    {"Softmax", read_plain_softmax},
    {"Squeeze", read_squeeze},
    {"Tanh", read_plain_activation<ActivationKind::tanh>},
    {"Transpose", read_transpose},
    {"Unsqueeze", read_unsqueeze},
};

}  // namespace

OnnxReader find_onnx_reader(std::string_view op_type) {
  const auto* entry = std::ranges::find(kReaders, op_type, &Entry::name);
  return entry == std::end(kReaders) ? nullptr : entry->read;
}

std::vector<std::string_view> onnx_operators() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kReaders) names.push_back(entry.name);
  return names;
}

}  // namespace convlab
