// Quantized operators in ONNX, for each opset. They have 8-bit and 16-bit integer types, although the graph's values
// are float32.

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/onnx/ops/onnx_op.h"

namespace convlab {
namespace {

using Proto = onnx::TensorProto;
using Type = OnnxWriter::Type;

/// Returns the integer type of a node's output: that of its zero point, or `output_dtype`, or uint8.
int32_t whole_type(const OnnxNode& node, size_t zero) {
  const auto asked = static_cast<int32_t>(node.opset() >= 21 ? node.integer("output_dtype", 0) : 0);
  if (node.has_input(zero)) return node.input(zero).onnx_type;
  return asked != 0 ? asked : static_cast<int32_t>(onnx::TensorProto::UINT8);
}

/// Computes scale and zero point from the range of the data, as ONNX's function body does.
OnnxMeaning read_dynamic_quantize(const OnnxNode& node) {
  node.check_inputs(1, 1);
  constexpr int32_t kByte = onnx::TensorProto::UINT8;
  constexpr float kLevels = 255;
  OnnxRecipe recipe(1);
  const OnnxRecipe::Value zero = recipe.constant(0.0f), levels = recipe.constant(kLevels);
  const auto extreme = [&](ReduceKind reduce, BinaryKind with_zero) {
    return recipe.add(BinaryOp{with_zero}, {recipe.add(ReduceOp{.kind = reduce, .keep_dims = false}, {0}), zero});
  };
  const OnnxRecipe::Value low = extreme(ReduceKind::min, BinaryKind::minimum),
                          high = extreme(ReduceKind::max, BinaryKind::maximum);
  const OnnxRecipe::Value range = recipe.add(BinaryOp{BinaryKind::subtract}, {high, low});
  const OnnxRecipe::Value scale = recipe.add(BinaryOp{BinaryKind::divide}, {range, levels});
  const OnnxRecipe::Value begin =
      recipe.add(BinaryOp{BinaryKind::divide}, {recipe.add(BinaryOp{BinaryKind::subtract}, {zero, low}), scale});
  const OnnxRecipe::Value rounded = recipe.add(UnaryOp{UnaryKind::round}, {begin});
  const OnnxRecipe::Value point =
      recipe.add(ActivationOp{{.kind = ActivationKind::clip, .alpha = 0, .beta = kLevels}}, {rounded}, kByte);
  recipe.give(recipe.add(QuantizeOp{}, {0, scale, point}, kByte));
  recipe.give(scale);
  recipe.give(point);
  return recipe;
}

constexpr std::array kWholeTypes{Proto::UINT8, Proto::INT8, Proto::UINT16, Proto::INT16};

Type type_between(int low, int high) {
  for (const Type type : kWholeTypes) {
    if (whole_range(type)->low == low && whole_range(type)->high == high) return type;
  }
  throw bad_input("quantized range {} to {} does not match any integer type", low, high);
}

bool fits(const Tensor& tensor, Type type) {
  const WholeRange range = *whole_range(type);
  return std::ranges::all_of(tensor.values<float>(), [&](float value) {
    return value == std::trunc(value) && value >= static_cast<float>(range.low) &&
           value <= static_cast<float>(range.high);
  });
}

/// Returns the type of an operand, which its zero point (-1: none) shares: the type that its node computes, or one that
/// fits the constants among the two, preferably `first`.
Type type_of(OnnxNodeWriter& node, ValueId value, ValueId zero, std::optional<Type> first = std::nullopt) {
  const OnnxWriter& file = node.file();
  if (const std::optional<Type> type = file.whole_type(value)) return *type;
  const auto all_fit = [&](Type type) {
    const Tensor* constant = file.constant(value);
    const Tensor* zeros = zero < 0 ? nullptr : file.constant(zero);
    return (constant == nullptr || fits(*constant, type)) && (zeros == nullptr || fits(*zeros, type));
  };
  if (file.constant(value) == nullptr) {
    throw bad_input("the integer type of input '{}' is unknown", file.graph().name_of(value));
  }
  if (first && all_fit(*first)) return *first;
  for (const Type type : kWholeTypes) {
    if (all_fit(type)) return type;
  }
  throw bad_input("input '{}' must contain only integers of at most 16 bits", file.graph().name_of(value));
}

ValueId input(const OnnxNodeWriter& node, size_t i) {
  return i < node.node().inputs.size() ? node.node().inputs[i] : ValueId{-1};
}

/// Writes operands of these types, in order.
void write_operands(OnnxNodeWriter& node, std::initializer_list<Type> types) {
  for (const Type type : types) {
    if (node.operands_left() > 0) node.operand(type);
  }
}

template <class Linear>
void write_steps(OnnxNodeWriter& node, const Linear& op) {
  if (op.axis != 1) node.integer("axis", op.axis);
  if (op.block_size == 0) return;
  node.integer("block_size", op.block_size);
  node.need_opset(21);
}

}  // namespace

void check_scale(const OnnxNode& node, size_t i) {
  if (!node.input(i).constant) return;
  const Tensor scale = converted(*node.input(i).constant, ElementType::f32);
  for (const float value : scale.values<float>()) {
    if (!(value > 0) || !std::isfinite(value)) {
      throw bad_input("scale '{}' must be positive and finite, got {}", printable(node.input(i).name), value);
    }
  }
}

void check_zero(const OnnxNode& node, size_t array, size_t zero) {
  if (!node.has_input(zero) || node.input(zero).onnx_type == node.input(array).onnx_type) return;
  throw bad_input("input types must match: zero point '{}' is {}, '{}' is {}", printable(node.input(zero).name),
                  onnx_type_name(node.input(zero).onnx_type), printable(node.input(array).name),
                  onnx_type_name(node.input(array).onnx_type));
}

WholeRange require_range(int32_t onnx_type) {
  const std::optional<WholeRange> range = whole_range(onnx_type);
  if (!range)
    throw bad_input("quantization to {} is not supported; use 8-bit or 16-bit integers", onnx_type_name(onnx_type));
  return *range;
}

OnnxMeaning read_quantize(const OnnxNode& node) {
  node.check_inputs(2, 3);
  node.ignore("saturate");   // only for types that are not supported
  node.ignore("precision");  // at least float32 here
  const int32_t type = whole_type(node, 2);
  const WholeRange range = require_range(type);
  check_scale(node, 1);
  const QuantizeOp op{.axis = node.integer("axis", 1),
                      .block_size = node.opset() >= 21 ? node.integer("block_size", 0) : 0,
                      .low = range.low,
                      .high = range.high};
  return OnnxComputed{op, node.input_count(), type};
}

OnnxMeaning read_dequantize(const OnnxNode& node) {
  node.check_inputs(2, 3);
  check_scale(node, 1);
  check_zero(node, 0, 2);
  const int64_t axis = node.integer("axis", 1), block_size = node.opset() >= 21 ? node.integer("block_size", 0) : 0;
  node.ignore("output_dtype");  // a floating-point type, stored as float32
  return OnnxComputed{DequantizeOp{.axis = axis, .block_size = block_size}, node.input_count(),
                      node.input(1).onnx_type};
}

template <>
struct OnnxOp<QuantizeOp> {
  static OnnxReaders readers() {
    return {{"DynamicQuantizeLinear", read_dynamic_quantize}, {"QuantizeLinear", read_quantize}};
  }
  static void write(OnnxNodeWriter& node, const QuantizeOp& op) {
    const Type type = type_between(op.low, op.high);
    if (type == Proto::UINT16 || type == Proto::INT16) node.need_opset(21);
    write_steps(node, op);
    write_operands(node, {Proto::FLOAT, Proto::FLOAT, type});
    if (node.node().inputs.size() == 2 && type != Proto::UINT8) {
      node.integer("output_dtype", type);
      node.need_opset(21);
    }
    node.gives(type);
  }
};

template <>
struct OnnxOp<DequantizeOp> {
  static OnnxReaders readers() { return {{"DequantizeLinear", read_dequantize}}; }
  static void write(OnnxNodeWriter& node, const DequantizeOp& op) {
    const Type type = type_of(node, input(node, 0), input(node, 2));
    if (type == Proto::UINT16 || type == Proto::INT16) node.need_opset(21);
    write_steps(node, op);
    write_operands(node, {type, Proto::FLOAT, type});
  }
};

template <>
struct OnnxOp<QLinearConvOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(8, 9);
    const std::optional<WholeRange> range = whole_range(node.input(7).onnx_type);
    if (!range)
      throw bad_input("output type {} is not supported; use uint8 or int8", onnx_type_name(node.input(7).onnx_type));
    for (const size_t scale : {1, 4, 6}) check_scale(node, scale);
    for (const size_t array : {0, 3}) check_zero(node, array, array + 2);
    const size_t dimensions = filter_dimensions(node, 3);
    const QLinearConvOp op{.conv = read_conv_op(node, dimensions), .low = range->low, .high = range->high};
    return windowed(node, dimensions, op, node.input_count(), {0, 3}, node.input(7).onnx_type);
  }
  static OnnxReaders readers() { return {{"QLinearConv", read}}; }
  static void write(OnnxNodeWriter& node, const QLinearConvOp& op) {
    write_conv(node, op.conv);
    const Type x = type_of(node, input(node, 0), input(node, 2)), w = type_of(node, input(node, 3), input(node, 5), x),
               y = type_between(op.low, op.high);
    write_operands(node, {x, Proto::FLOAT, x, w, Proto::FLOAT, w, Proto::FLOAT, y, Proto::INT32});
    node.gives(y);
  }
};

template <>
struct OnnxOp<ConvIntegerOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(2, 4);
    const size_t dimensions = filter_dimensions(node, 1);
    if (node.has_input(3) && !node.has_input(2))
      throw bad_input("x_zero_point is missing, but w_zero_point is present");
    return windowed(node, dimensions, ConvIntegerOp{read_conv_op(node, dimensions)}, node.input_count(), {0, 1},
                    onnx::TensorProto::INT32);
  }
  static OnnxReaders readers() { return {{"ConvInteger", read}}; }
  static void write(OnnxNodeWriter& node, const ConvIntegerOp& op) {
    write_conv(node, op.conv);
    const Type x = type_of(node, input(node, 0), input(node, 2)), w = type_of(node, input(node, 1), input(node, 3), x);
    write_operands(node, {x, w, x, w});
    node.gives(Proto::INT32);
  }
};

template <>
struct OnnxOp<QLinearMatMulOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(8, 8);
    const WholeRange range = require_range(node.input(7).onnx_type);
    for (const size_t scale : {1, 4, 6}) check_scale(node, scale);
    for (const size_t array : {0, 3}) check_zero(node, array, array + 2);
    return OnnxComputed{QLinearMatMulOp{.low = range.low, .high = range.high}, 8, node.input(7).onnx_type};
  }
  static OnnxReaders readers() { return {{"QLinearMatMul", read}}; }
  static void write(OnnxNodeWriter& node, const QLinearMatMulOp& op) {
    const Type a = type_of(node, input(node, 0), input(node, 2)), b = type_of(node, input(node, 3), input(node, 5), a),
               y = type_between(op.low, op.high);
    write_operands(node, {a, Proto::FLOAT, a, b, Proto::FLOAT, b, Proto::FLOAT, y});
    node.gives(y);
  }
};

template <>
struct OnnxOp<MatMulIntegerOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(2, 4);
    OnnxRecipe recipe(node.input_count());
    std::vector<OnnxRecipe::Value> inputs{0, 1};
    if (node.has_input(2) || node.has_input(3)) inputs.push_back(node.has_input(2) ? 2 : recipe.constant(0.0f));
    if (node.has_input(3)) inputs.push_back(3);
    recipe.give(recipe.add(MatMulIntegerOp{}, inputs, onnx::TensorProto::INT32));
    return recipe;
  }
  static OnnxReaders readers() { return {{"MatMulInteger", read}}; }
  static void write(OnnxNodeWriter& node, const MatMulIntegerOp&) {
    const Type a = type_of(node, input(node, 0), input(node, 2)), b = type_of(node, input(node, 1), input(node, 3), a);
    write_operands(node, {a, b, a, b});
    node.gives(Proto::INT32);
  }
};

template <>
struct OnnxOp<ByteAddOp> : NotInOnnx {};

template <>
struct OnnxOp<ByteConvOp> : NotInOnnx {};

template <>
struct OnnxOp<ByteMeanOp> : NotInOnnx {};

template <>
struct OnnxOp<ByteConcatOp> : NotInOnnx {};

template <>
std::vector<OnnxOpEntry> OnnxOpEntry::rows<QuantizedOps>() {
  return rows_of<OnnxOpEntry>(QuantizedOps());
}

}  // namespace convlab
