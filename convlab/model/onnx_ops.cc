// One function an ONNX operator, and the table of their names. Attributes that became inputs in a later opset are read
// from wherever the model's opset has them.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "convlab/base/checked.h"
#include "convlab/model/onnx_node.h"
#include "convlab/model/onnx_tensor.h"
#include "convlab/model/shapes.h"
#include "onnx/onnx.pb.h"

namespace convlab {
namespace {

constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

AutoPad auto_pad(OnnxNode& node) {
  const std::string text = node.text("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return AutoPad::explicit_pads;
  if (text == "SAME_UPPER") return AutoPad::same_upper;
  if (text == "SAME_LOWER") return AutoPad::same_lower;
  if (text == "VALID") return AutoPad::valid;
  throw bad_input("auto_pad is '{}'", text);
}

std::vector<int64_t> sizes(OnnxNode& node, const char* attribute, size_t count, int64_t otherwise, int64_t least) {
  std::vector<int64_t> values = node.integers(attribute, std::vector<int64_t>(count, otherwise));
  if (values.size() != count) {
    throw bad_input("{} has {} numbers; {} are wanted, for two dimensions", attribute, values.size(), count);
  }
  constexpr int64_t kMost = int64_t{1} << 31;
  for (int64_t value : values) {
    if (value < least || value > kMost)
      throw bad_input("{} holds {}; it must be {} to {}", attribute, value, least, kMost);
  }
  return values;
}

/// Strides, dilations and pads, which ConvOp and Pool call alike.
template <class Window>
void read_window(OnnxNode& node, Window& window) {
  const std::vector<int64_t> strides = sizes(node, "strides", 2, 1, 1), dilations = sizes(node, "dilations", 2, 1, 1);
  const std::vector<int64_t> pads = sizes(node, "pads", 4, 0, 0);
  window.stride_h = strides[0], window.stride_w = strides[1];
  window.dilation_h = dilations[0], window.dilation_w = dilations[1];
  window.pad_top = pads[0], window.pad_left = pads[1], window.pad_bottom = pads[2], window.pad_right = pads[3];
}

void conv(OnnxNode& node) {
  node.require_inputs(2, 3);
  ConvOp op;
  read_window(node, op);
  op.groups = node.integer("group", 1);
  op.auto_pad = auto_pad(node);
  const std::vector<int64_t> kernel = node.integers("kernel_shape", {});
  if (const Tensor* filters = node.constant(1)) {
    const Shape& shape = filters->shape();
    if (shape.size() != 4) throw bad_input("filters have shape {}; only 2-D convolution is supported", to_text(shape));
    if (!kernel.empty() && kernel != std::vector<int64_t>(shape.begin() + 2, shape.end())) {
      throw bad_input("kernel_shape [{}] is not that of the filters, {}", fmt::join(kernel, ", "), to_text(shape));
    }
  } else {
    throw bad_input("filters '{}' are computed; they must be constant", node.input_name(1));
  }
  if (node.has_input(2) && node.constant(2) == nullptr) throw bad_input("the bias is computed; it must be constant");
  node.define(op, node.inputs(0, 3));
}

void pool(OnnxNode& node, PoolKind kind) {
  node.require_inputs(1, 1);
  PoolOp op;
  op.pool.kind = kind;
  const std::vector<int64_t> kernel = sizes(node, "kernel_shape", 2, 0, 1);
  op.pool.kernel_h = kernel[0], op.pool.kernel_w = kernel[1];
  read_window(node, op.pool);
  op.auto_pad = auto_pad(node);
  op.pool.ceil_mode = node.integer("ceil_mode", 0) != 0;
  if (kind == PoolKind::average) op.pool.count_include_pad = node.integer("count_include_pad", 0) != 0;
  if (kind == PoolKind::max && node.integer("storage_order", 0) != 0) {
    throw bad_input("storage_order other than 0 is not supported");
  }
  const Pool& window = op.pool;
  // A window that lies in the padding alone has no maximum and no average.
  if (window.pad_top >= (window.kernel_h - 1) * window.dilation_h + 1 ||
      window.pad_bottom >= (window.kernel_h - 1) * window.dilation_h + 1 ||
      window.pad_left >= (window.kernel_w - 1) * window.dilation_w + 1 ||
      window.pad_right >= (window.kernel_w - 1) * window.dilation_w + 1) {
    throw bad_input("pads are as large as the window");
  }
  node.define(op, node.inputs(0, 1));
}

void max_pool(OnnxNode& node) { pool(node, PoolKind::max); }
void average_pool(OnnxNode& node) { pool(node, PoolKind::average); }

void global_average_pool(OnnxNode& node) {
  node.require_inputs(1, 1);
  node.define(GlobalAveragePoolOp{}, node.inputs(0, 1));
}

void activation(OnnxNode& node, Activation activation) { node.define(ActivationOp{activation}, node.inputs(0, 1)); }

void relu(OnnxNode& node) {
  node.require_inputs(1, 1);
  activation(node, {ActivationKind::relu});
}
void sigmoid(OnnxNode& node) {
  node.require_inputs(1, 1);
  activation(node, {ActivationKind::sigmoid});
}
void tanh(OnnxNode& node) {
  node.require_inputs(1, 1);
  activation(node, {ActivationKind::tanh});
}
void leaky_relu(OnnxNode& node) {
  node.require_inputs(1, 1);
  activation(node, {ActivationKind::leaky_relu, node.real("alpha", 0.01f)});
}

void clip(OnnxNode& node) {
  float low = std::numeric_limits<float>::lowest(), high = std::numeric_limits<float>::max();
  if (node.opset() < 11) {
    node.require_inputs(1, 1);
    low = node.real("min", low);
    high = node.real("max", high);
  } else {
    node.require_inputs(1, 3);
    if (node.has_input(1)) low = node.constant_real(1, "min");
    if (node.has_input(2)) high = node.constant_real(2, "max");
  }
  activation(node, {ActivationKind::clip, low, high});
}

void batch_normalization(OnnxNode& node) {
  node.require_inputs(5, 5);
  if (node.integer("training_mode", 0) != 0) throw bad_input("training_mode is not supported: this is inference");
  if (node.integer("spatial", 1) != 1) throw bad_input("spatial other than 1 is not supported");
  node.real("momentum", 0.9f);  // for training
  for (size_t i = 1; i < 5; ++i) {
    if (node.constant(i) == nullptr) throw bad_input("'{}' is computed; it must be constant", node.input_name(i));
  }
  node.define(BatchNormOp{node.real("epsilon", 1e-5f)}, node.inputs(0, 5));
}

void gemm(OnnxNode& node) {
  node.require_inputs(2, 3);
  const GemmOp op{.alpha = node.real("alpha", 1),
                  .beta = node.real("beta", 1),
                  .transpose_a = node.integer("transA", 0) != 0,
                  .transpose_b = node.integer("transB", 0) != 0};
  node.define(op, node.inputs(0, 3));
}

template <class BinaryOp>
void binary(OnnxNode& node) {
  node.require_inputs(2, 2);
  node.define(BinaryOp{}, node.inputs(0, 2));
}

void concat(OnnxNode& node) {
  node.require_inputs(1, kAnyNumber);
  if (node.attribute("axis") == nullptr) throw bad_input("has no axis");
  const int64_t axis = node.integer("axis", 0);
  // Shapes are put together from integers; weights are left to the planner.
  std::vector<int64_t> joined;
  bool integers = axis == 0 || axis == -1;
  for (size_t i = 0; integers && i < node.input_count(); ++i) {
    const Tensor* tensor = node.constant(i);
    integers = tensor != nullptr && tensor->type() == ElementType::i64 && tensor->shape().size() == 1;
    if (integers) joined.insert(joined.end(), tensor->values<int64_t>().begin(), tensor->values<int64_t>().end());
  }
  if (integers) {
    const auto count = static_cast<int64_t>(joined.size());
    return node.define_constant(Tensor::of<int64_t>({count}, joined));
  }
  node.define(ConcatOp{axis}, node.inputs(0, node.input_count()));
}

void flatten(OnnxNode& node) {
  node.require_inputs(1, 1);
  node.define(FlattenOp{node.integer("axis", 1)}, node.inputs(0, 1));
}

void reshape(OnnxNode& node) {
  node.require_inputs(2, 2);
  const ReshapeOp op{.shape = node.constant_integers(1, "the new shape")};
  if (node.integer("allowzero", 0) != 0 && std::find(op.shape.begin(), op.shape.end(), 0) != op.shape.end()) {
    throw bad_input("makes an empty tensor, which is not supported");
  }
  node.define(op, node.inputs(0, 1));
}

/// Axes of Squeeze and Unsqueeze: an attribute, from opset 13 on an input.
std::vector<int64_t> axes(OnnxNode& node) {
  if (node.opset() < 13) {
    node.require_inputs(1, 1);
    return node.integers("axes", {});
  }
  node.require_inputs(1, 2);
  return node.has_input(1) ? node.constant_integers(1, "axes") : std::vector<int64_t>{};
}

/// A constant of integers under another shape: such is how models compute the shapes of Reshape.
bool reshape_integers(OnnxNode& node, const std::vector<int64_t>& removed, const std::vector<int64_t>& inserted) {
  const Tensor* tensor = node.constant(0);
  if (tensor == nullptr || tensor->type() != ElementType::i64) return false;
  Shape shape = tensor->shape();
  if (shape.size() > 1 || removed.size() + inserted.size() > 1) return false;
  if (!inserted.empty() && shape.empty()) shape = {1};
  if (inserted.empty() && shape == Shape{1}) shape = {};
  node.define_constant(tensor->clone().reshaped(shape));
  return true;
}

void squeeze(OnnxNode& node) {
  const std::vector<int64_t> removed = axes(node);
  if (!reshape_integers(node, removed, {})) node.define(SqueezeOp{removed}, node.inputs(0, 1));
}

void unsqueeze(OnnxNode& node) {
  const std::vector<int64_t> inserted = axes(node);
  if (inserted.empty()) throw bad_input("has no axes");
  if (!reshape_integers(node, {}, inserted)) node.define(UnsqueezeOp{inserted}, node.inputs(0, 1));
}

void transpose(OnnxNode& node) {
  node.require_inputs(1, 1);
  node.define(TransposeOp{node.integers("perm", {})}, node.inputs(0, 1));
}

void softmax(OnnxNode& node, bool log) {
  node.require_inputs(1, 1);
  const bool flattened = node.opset() < 13;
  node.define(SoftmaxOp{node.integer("axis", flattened ? 1 : -1), log, flattened}, node.inputs(0, 1));
}

void softmax(OnnxNode& node) { softmax(node, false); }
void log_softmax(OnnxNode& node) { softmax(node, true); }

void dropout(OnnxNode& node) {
  node.require_inputs(1, 3);
  node.real("ratio", 0);
  node.integer("seed", 0);
  if (node.has_input(2)) {
    const Tensor* training = node.constant(2);
    if (training == nullptr || converted(*training, ElementType::f32).values<float>()[0] != 0) {
      throw bad_input("training_mode must be a constant false: this is inference");
    }
  }
  node.define_alias(0);
}

void identity(OnnxNode& node) {
  node.require_inputs(1, 1);
  node.define_alias(0);
}

void constant(OnnxNode& node) {
  node.require_inputs(0, 0);
  if (const auto* found = node.attribute("value")) return node.define_constant(onnx_tensor(found->t(), "value"));
  if (const auto* found = node.attribute("value_float")) {
    const float value = found->f();
    return node.define_constant(Tensor::of<float>({}, std::span(&value, 1)));
  }
  if (const auto* found = node.attribute("value_int")) {
    const int64_t value = found->i();
    return node.define_constant(Tensor::of<int64_t>({}, std::span(&value, 1)));
  }
  if (const auto* found = node.attribute("value_floats")) {
    const std::vector<float> values(found->floats().begin(), found->floats().end());
    return node.define_constant(Tensor::of<float>({found->floats_size()}, values));
  }
  if (const auto* found = node.attribute("value_ints")) {
    const std::vector<int64_t> values(found->ints().begin(), found->ints().end());
    return node.define_constant(Tensor::of<int64_t>({found->ints_size()}, values));
  }
  throw bad_input("has no value of numbers");
}

void cast(OnnxNode& node) {
  node.require_inputs(1, 1);
  node.integer("saturate", 1);  // of 8-bit floats
  const int64_t to = node.integer("to", 0);
  const Tensor* tensor = node.constant(0);
  ElementType type;
  switch (to) {
    case onnx::TensorProto::FLOAT:
      type = ElementType::f32;
      break;
    case onnx::TensorProto::FLOAT16:
      type = ElementType::f16;
      break;
    case onnx::TensorProto::DOUBLE:
      type = ElementType::f64;
      break;
    case onnx::TensorProto::INT64:
      type = ElementType::i64;
      break;
    case onnx::TensorProto::INT32:
      type = ElementType::i32;
      break;
    default:
      throw bad_input("casts to type {}; float32, float16 and float64 are supported, and integers for constants", to);
  }
  if (tensor != nullptr) return node.define_constant(converted(*tensor, type));
  if (type == ElementType::f16) return node.define(RoundOp{}, node.inputs(0, 1));
  if (type == ElementType::f32 || type == ElementType::f64) return node.define_alias(0);
  throw bad_input("casts computed values to integers, which is not supported");
}

void pad(OnnxNode& node) {
  PadOp op;
  const std::string mode = node.text("mode", "constant");
  if (mode == "reflect") {
    op.mode = PadMode::reflect;
  } else if (mode == "edge") {
    op.mode = PadMode::edge;
  } else if (mode != "constant") {
    throw bad_input("mode '{}' is not supported", mode);
  }
  if (node.opset() < 11) {
    node.require_inputs(1, 1);
    op.pads = node.integers("pads", {});
    op.value = node.real("value", 0);
  } else {
    node.require_inputs(2, 4);
    op.pads = node.constant_integers(1, "pads");
    if (node.has_input(2)) op.value = node.constant_real(2, "the value");
    if (node.has_input(3)) throw bad_input("the input 'axes' is not supported; give pads for all axes");
  }
  node.define(std::move(op), node.inputs(0, 1));
}

using Importer = void (*)(OnnxNode&);

const std::map<std::string, Importer>& importers() {
  static const std::map<std::string, Importer> all = {
      {"Add", binary<AddOp>},
      {"AveragePool", average_pool},
      {"BatchNormalization", batch_normalization},
      {"Cast", cast},
      {"Clip", clip},
      {"Concat", concat},
      {"Constant", constant},
      {"Conv", conv},
      {"Dropout", dropout},
      {"Flatten", flatten},
      {"Gemm", gemm},
      {"GlobalAveragePool", global_average_pool},
      {"Identity", identity},
      {"LeakyRelu", leaky_relu},
      {"LogSoftmax", log_softmax},
      {"MatMul", binary<MatMulOp>},
      {"MaxPool", max_pool},
      {"Mul", binary<MulOp>},
      {"Pad", pad},
      {"Relu", relu},
      {"Reshape", reshape},
      {"Sigmoid", sigmoid},
      {"Softmax", softmax},
      {"Squeeze", squeeze},
      {"Tanh", tanh},
      {"Transpose", transpose},
      {"Unsqueeze", unsqueeze},
  };
  return all;
}

}  // namespace

void import_onnx_node(OnnxNode& node, const std::string& op_type) {
  const auto found = importers().find(op_type);
  if (found == importers().end()) throw bad_input("the operator is not supported");
  found->second(node);
  if (const std::vector<std::string> unread = node.unread(); !unread.empty()) {
    throw bad_input("attribute {} is not supported", unread.front());
  }
}

}  // namespace convlab
