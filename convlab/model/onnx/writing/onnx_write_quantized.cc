// Writes quantized operators to ONNX: with 8-bit and 16-bit integer types, although the graph's values are float32.

#include <algorithm>
#include <array>
#include <cmath>

#include "convlab/base/error.h"
#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/onnx/writing/onnx_writers.h"

namespace convlab {
namespace {

using Proto = onnx::TensorProto;
using Type = OnnxWriter::Type;

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

void write(OnnxNodeWriter& node, const QuantizeOp& op) {
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

void write(OnnxNodeWriter& node, const DequantizeOp& op) {
  const Type type = type_of(node, input(node, 0), input(node, 2));
  if (type == Proto::UINT16 || type == Proto::INT16) node.need_opset(21);
  write_steps(node, op);
  write_operands(node, {type, Proto::FLOAT, type});
}

void write(OnnxNodeWriter& node, const QLinearConvOp& op) {
  write_conv(node, op.conv);
  const Type x = type_of(node, input(node, 0), input(node, 2)), w = type_of(node, input(node, 3), input(node, 5), x),
             y = type_between(op.low, op.high);
  write_operands(node, {x, Proto::FLOAT, x, w, Proto::FLOAT, w, Proto::FLOAT, y, Proto::INT32});
  node.gives(y);
}

void write(OnnxNodeWriter& node, const ConvIntegerOp& op) {
  write_conv(node, op.conv);
  const Type x = type_of(node, input(node, 0), input(node, 2)), w = type_of(node, input(node, 1), input(node, 3), x);
  write_operands(node, {x, w, x, w});
  node.gives(Proto::INT32);
}

void write(OnnxNodeWriter& node, const QLinearMatMulOp& op) {
  const Type a = type_of(node, input(node, 0), input(node, 2)), b = type_of(node, input(node, 3), input(node, 5), a),
             y = type_between(op.low, op.high);
  write_operands(node, {a, Proto::FLOAT, a, b, Proto::FLOAT, b, Proto::FLOAT, y});
  node.gives(y);
}

void write(OnnxNodeWriter& node, const MatMulIntegerOp&) {
  const Type a = type_of(node, input(node, 0), input(node, 2)), b = type_of(node, input(node, 1), input(node, 3), a);
  write_operands(node, {a, b, a, b});
  node.gives(Proto::INT32);
}

}  // namespace convlab
