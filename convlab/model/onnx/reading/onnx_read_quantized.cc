// Readers of quantized operators, for each opset.

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/onnx/reading/onnx_readers.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Returns the integer type of a node's output: that of its zero point, or `output_dtype`, or uint8.
int32_t whole_type(const OnnxNode& node, size_t zero) {
  const auto asked = static_cast<int32_t>(node.opset() >= 21 ? node.integer("output_dtype", 0) : 0);
  if (node.has_input(zero)) return node.input(zero).onnx_type;
  return asked != 0 ? asked : static_cast<int32_t>(onnx::TensorProto::UINT8);
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

namespace {

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

OnnxMeaning read_qlinear_matmul(const OnnxNode& node) {
  node.check_inputs(8, 8);
  const WholeRange range = require_range(node.input(7).onnx_type);
  for (const size_t scale : {1, 4, 6}) check_scale(node, scale);
  for (const size_t array : {0, 3}) check_zero(node, array, array + 2);
  return OnnxComputed{QLinearMatMulOp{.low = range.low, .high = range.high}, 8, node.input(7).onnx_type};
}

OnnxMeaning read_matmul_integer(const OnnxNode& node) {
  node.check_inputs(2, 4);
  OnnxRecipe recipe(node.input_count());
  std::vector<OnnxRecipe::Value> inputs{0, 1};
  if (node.has_input(2) || node.has_input(3)) inputs.push_back(node.has_input(2) ? 2 : recipe.constant(0.0f));
  if (node.has_input(3)) inputs.push_back(3);
  recipe.give(recipe.add(MatMulIntegerOp{}, inputs, onnx::TensorProto::INT32));
  return recipe;
}

constexpr OnnxEntry kQuantizedReaders[] = {
    {"DequantizeLinear", read_dequantize},  {"DynamicQuantizeLinear", read_dynamic_quantize},
    {"MatMulInteger", read_matmul_integer}, {"QLinearMatMul", read_qlinear_matmul},
    {"QuantizeLinear", read_quantize},
};

}  // namespace

std::span<const OnnxEntry> onnx_quantized_readers() { return kQuantizedReaders; }

}  // namespace convlab
