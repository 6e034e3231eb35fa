// Readers of ONNX Runtime's quantized operators (domain com.microsoft), as its documentation defines them: real
// operators between DequantizeLinear and QuantizeLinear.

#include "convlab/base/error.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/onnx/ops/onnx_op.h"

namespace convlab {
namespace {

constexpr int32_t kFloat = onnx::TensorProto::FLOAT;

/// A recipe whose inputs are quantized: each is an array, its scale and optionally its zero point.
class QuantizedRecipe {
 public:
  explicit QuantizedRecipe(const OnnxNode& node) : node_(node), recipe_(node.input_count()) {}

  /// Returns the dequantized input i. `axis` is used if there are several scales.
  OnnxRecipe::Value real(size_t i, size_t scale, size_t zero, int64_t axis = 1) {
    require(i);
    check_zero(node_, i, zero);
    return recipe_.add(DequantizeOp{.axis = axis}, with_steps(i, scale, zero), kFloat);
  }
  OnnxRecipe::Value add(Op op, std::vector<OnnxRecipe::Value> operands) {
    return recipe_.add(std::move(op), std::move(operands), kFloat);
  }
  OnnxRecipe& recipe() { return recipe_; }

  /// Returns the recipe with `value`, quantized, as its output.
  OnnxRecipe quantized(OnnxRecipe::Value value, size_t scale, size_t zero) {
    const int32_t type = node_.has_input(zero) ? node_.input(zero).onnx_type : onnx::TensorProto::UINT8;
    const WholeRange range = require_range(type);
    recipe_.give(recipe_.add(QuantizeOp{.low = range.low, .high = range.high}, with_steps(value, scale, zero), type));
    return std::move(recipe_);
  }

 private:
  void require(size_t i) const {
    if (!node_.has_input(i)) throw bad_input("input {} is missing", i);
  }

  std::vector<OnnxRecipe::Value> with_steps(OnnxRecipe::Value value, size_t scale, size_t zero) const {
    require(scale);
    check_scale(node_, scale);
    std::vector<OnnxRecipe::Value> operands{value, scale};
    if (node_.has_input(zero)) operands.push_back(zero);
    return operands;
  }

  const OnnxNode& node_;
  OnnxRecipe recipe_;
};

/// Translates an operator with two quantized inputs. Zero points are optional; the last one may be omitted.
template <class Operator>
OnnxMeaning read_of_two(const OnnxNode& node) {
  node.check_inputs(2, 8);
  QuantizedRecipe recipe(node);
  const OnnxRecipe::Value a = recipe.real(0, 1, 2), b = recipe.real(3, 4, 5);
  return recipe.quantized(recipe.add(Operator{}, {a, b}), 6, 7);
}

OnnxMeaning read_of_one(const OnnxNode& node, const Op& op) {
  node.check_inputs(2, 5);
  QuantizedRecipe recipe(node);
  return recipe.quantized(recipe.add(op, {recipe.real(0, 1, 2)}), 3, 4);
}

OnnxMeaning read_quantized_leaky_relu(const OnnxNode& node) {
  return read_of_one(node, ActivationOp{{ActivationKind::leaky_relu, node.real("alpha", 0.01f)}});
}

OnnxMeaning read_quantized_sigmoid(const OnnxNode& node) {
  return read_of_one(node, ActivationOp{{ActivationKind::sigmoid}});
}

OnnxMeaning read_quantized_mean(const OnnxNode& node) {
  if (node.flag("channels_last", false)) throw bad_input("channels_last = 1 is not supported; the layout must be nchw");
  return read_of_one(node, GlobalAveragePoolOp{});
}

OnnxMeaning read_quantized_concat(const OnnxNode& node) {
  node.check_inputs(5, node.input_count());
  if (node.input_count() % 3 != 2)
    throw bad_input("expected 2 inputs and 3 more for each tensor, got {} inputs", node.input_count());
  QuantizedRecipe recipe(node);
  std::vector<OnnxRecipe::Value> parts;
  for (size_t i = 2; i < node.input_count(); i += 3) parts.push_back(recipe.real(i, i + 1, i + 2));
  return recipe.quantized(recipe.add(ConcatOp{.axis = node.integer("axis")}, parts), 0, 1);
}

/// Returns the scales of a product's accumulators: alpha * a_scale * b_scale.
Tensor sum_scales(const OnnxNode& node, float alpha) {
  const Tensor a = converted(node.constant(1, "a_scale"), ElementType::f32);
  Tensor scales = converted(node.constant(4, "b_scale"), ElementType::f32);
  if (a.count() != 1) throw bad_input("a_scale must have 1 element, got {}", a.count());
  for (float& scale : scales.values<float>()) scale *= alpha * a.values<float>()[0];
  return scales;
}

OnnxMeaning read_quantized_gemm(const OnnxNode& node) {
  node.check_inputs(6, 9);
  if (!node.has_input(7)) throw bad_input("input y_scale is missing; only a quantized output is supported");
  const bool transpose_b = node.flag("transB", false);
  const GemmOp op{
      .alpha = node.real("alpha", 1), .transpose_a = node.flag("transA", false), .transpose_b = transpose_b};
  QuantizedRecipe recipe(node);
  std::vector<OnnxRecipe::Value> operands{recipe.real(0, 1, 2), recipe.real(3, 4, 5, transpose_b ? 0 : 1)};
  if (node.has_input(6)) {
    const OnnxRecipe::Value scales = recipe.recipe().constant(sum_scales(node, op.alpha));
    operands.push_back(recipe.recipe().add(DequantizeOp{.axis = 0}, {6, scales}, kFloat));
  }
  return recipe.quantized(recipe.add(op, operands), 7, 8);
}

}  // namespace

OnnxReaders onnx_microsoft_readers() {
  return {
      {"DequantizeLinear", read_dequantize},
      {"QGemm", read_quantized_gemm},
      {"QLinearAdd", read_of_two<AddOp>},
      {"QLinearConcat", read_quantized_concat},
      {"QLinearGlobalAveragePool", read_quantized_mean},
      {"QLinearLeakyRelu", read_quantized_leaky_relu},
      {"QLinearMul", read_of_two<MulOp>},
      {"QLinearSigmoid", read_quantized_sigmoid},
      {"QuantizeLinear", read_quantize},
  };
}

}  // namespace convlab
