// Elementwise operators and conversions in ONNX, for each opset.

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/onnx/ops/onnx_op.h"

namespace convlab {
namespace {

constexpr int32_t kBool = onnx::TensorProto::BOOL;

using Proto = onnx::TensorProto;

template <ActivationKind kind>
OnnxMeaning read_activation(const OnnxNode& node) {
  return read_plain(node, 1, ActivationOp{{.kind = kind}});
}

OnnxMeaning read_leaky_relu(const OnnxNode& node) {
  node.check_inputs(1, 1);
  return OnnxComputed{ActivationOp{{.kind = ActivationKind::leaky_relu, .alpha = node.real("alpha", 0.01f)}}};
}

template <UnaryKind kind>
OnnxMeaning read_unary(const OnnxNode& node) {
  return read_plain(node, 1, UnaryOp{kind});
}

template <UnaryKind kind>
OnnxMeaning read_truth(const OnnxNode& node) {
  node.check_inputs(1, 1);
  return OnnxComputed{UnaryOp{kind}, 1, kBool};
}

/// A function with one parameter.
template <UnaryKind kind>
OnnxMeaning read_with(const OnnxNode& node, std::string_view name, float otherwise) {
  return read_plain(node, 1, UnaryOp{kind, node.real(name, otherwise)});
}

OnnxMeaning read_elu(const OnnxNode& node) { return read_with<UnaryKind::elu>(node, "alpha", 1); }

OnnxMeaning read_celu(const OnnxNode& node) { return read_with<UnaryKind::celu>(node, "alpha", 1); }

OnnxMeaning read_swish(const OnnxNode& node) { return read_with<UnaryKind::swish>(node, "alpha", 1); }

OnnxMeaning read_thresholded_relu(const OnnxNode& node) {
  return read_with<UnaryKind::thresholded_relu>(node, "alpha", 1);
}

OnnxMeaning read_selu(const OnnxNode& node) {
  return read_plain(node, 1,
                    UnaryOp{UnaryKind::selu, node.real("alpha", 1.67326319217681884765625f),
                            node.real("gamma", 1.05070102214813232421875f)});
}

OnnxMeaning read_hard_sigmoid(const OnnxNode& node) {
  return read_plain(node, 1, UnaryOp{UnaryKind::hard_sigmoid, node.real("alpha", 0.2f), node.real("beta", 0.5f)});
}

OnnxMeaning read_shrink(const OnnxNode& node) {
  return read_plain(node, 1, UnaryOp{UnaryKind::shrink, node.real("lambd", 0.5f), node.real("bias", 0)});
}

OnnxMeaning read_gelu(const OnnxNode& node) {
  const std::string approximate = node.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    throw bad_input("attribute 'approximate' must be none or tanh, got '{}'", approximate);
  return read_plain(node, 1, UnaryOp{approximate == "tanh" ? UnaryKind::gelu_tanh : UnaryKind::gelu});
}

OnnxMeaning read_is_inf(const OnnxNode& node) {
  const auto detects = [&](const char* name) { return node.flag(name, true) ? 1.0f : 0.0f; };
  node.check_inputs(1, 1);
  return OnnxComputed{UnaryOp{UnaryKind::is_inf, detects("detect_negative"), detects("detect_positive")}, 1, kBool};
}

/// Wraps a result around to the range of an 8-bit or 16-bit integer type.
OnnxRecipe::Value wrapped(OnnxRecipe& recipe, OnnxRecipe::Value value, int32_t onnx_type) {
  const std::optional<WholeRange> range = whole_range(onnx_type);
  if (!range) return value;
  const auto low = static_cast<float>(range->low), numbers = static_cast<float>(range->high - range->low + 1);
  if (low != 0) value = recipe.add(BinaryOp{BinaryKind::subtract}, {value, recipe.constant(low)}, onnx_type);
  value = recipe.add(BinaryOp{BinaryKind::modulo}, {value, recipe.constant(numbers)}, onnx_type);
  return low != 0 ? recipe.add(AddOp{}, {value, recipe.constant(low)}, onnx_type) : value;
}

/// Translates an operator with two operands. 8-bit and 16-bit integers wrap around.
OnnxMeaning arithmetic(const OnnxNode& node, Op op) {
  node.check_inputs(2, 2);
  const int32_t type = node.input(0).onnx_type;
  const std::optional<WholeRange> range = whole_range(type);
  if (!range) return OnnxComputed{std::move(op), 2};
  if (std::holds_alternative<MulOp>(op) && range->high > 255)
    throw bad_input("multiplication of 16-bit integers is not supported");
  OnnxRecipe recipe(2);
  recipe.give(wrapped(recipe, recipe.add(std::move(op), {0, 1}), type));
  return recipe;
}

OnnxMeaning read_add(const OnnxNode& node) { return arithmetic(node, AddOp{}); }

OnnxMeaning read_sub(const OnnxNode& node) { return arithmetic(node, BinaryOp{BinaryKind::subtract}); }

/// Truncates results of integers toward 0.
OnnxMeaning truncated(const OnnxNode& node, BinaryKind kind) {
  node.check_inputs(2, 2);
  if (is_real(node.input(0).type)) return OnnxComputed{BinaryOp{kind}, 2};
  OnnxRecipe recipe(2);
  recipe.give(recipe.add(UnaryOp{UnaryKind::truncate}, {recipe.add(BinaryOp{kind}, {0, 1})}));
  return recipe;
}

OnnxMeaning read_div(const OnnxNode& node) { return truncated(node, BinaryKind::divide); }

OnnxMeaning read_pow(const OnnxNode& node) { return truncated(node, BinaryKind::power); }

template <BinaryKind kind>
OnnxMeaning read_comparison(const OnnxNode& node) {
  node.check_inputs(2, 2);
  return OnnxComputed{BinaryOp{kind}, 2, kBool};
}

OnnxMeaning read_prelu(const OnnxNode& node) { return read_plain(node, 2, BinaryOp{BinaryKind::prelu}); }

OnnxMeaning read_mod(const OnnxNode& node) {
  const bool fmod = node.flag("fmod", false);
  if (!fmod && is_real(node.input(0).type)) throw bad_input("floating-point inputs require fmod = 1");
  return read_plain(node, 2, BinaryOp{fmod ? BinaryKind::fmod : BinaryKind::modulo});
}

/// Applies one operator to all inputs, from left to right.
OnnxMeaning chain(const OnnxNode& node, const Op& op, bool mean = false) {
  const size_t count = node.input_count();
  node.check_inputs(std::max<size_t>(count, 1), SIZE_MAX);
  if (count == 1) return OnnxPassed{node.input(0).onnx_type};
  if (count == 2 && !mean) return OnnxComputed{op, 2};
  OnnxRecipe recipe(count);
  OnnxRecipe::Value sum = 0;
  for (size_t i = 1; i < count; ++i) sum = recipe.add(op, {sum, i});
  if (mean) sum = recipe.add(BinaryOp{BinaryKind::divide}, {sum, recipe.constant(static_cast<float>(count))});
  recipe.give(sum);
  return recipe;
}

OnnxMeaning read_sum(const OnnxNode& node) { return chain(node, AddOp{}); }

OnnxMeaning read_mean(const OnnxNode& node) { return chain(node, AddOp{}, true); }

OnnxMeaning read_min(const OnnxNode& node) { return chain(node, BinaryOp{BinaryKind::minimum}); }

OnnxMeaning read_max(const OnnxNode& node) { return chain(node, BinaryOp{BinaryKind::maximum}); }

/// Translates a Clip with computed bounds, or of integers.
OnnxMeaning clip_between_values(const OnnxNode& node) {
  OnnxRecipe recipe(3);
  OnnxRecipe::Value value = 0;
  if (node.has_input(1)) value = recipe.add(BinaryOp{BinaryKind::maximum}, {value, 1});
  if (node.has_input(2)) value = recipe.add(BinaryOp{BinaryKind::minimum}, {value, 2});
  if (value == 0) return OnnxPassed{node.input(0).onnx_type};
  recipe.give(value);
  return recipe;
}

OnnxMeaning read_clip(const OnnxNode& node) {
  Activation clip{.kind = ActivationKind::clip,
                  .alpha = std::numeric_limits<float>::lowest(),
                  .beta = std::numeric_limits<float>::max()};
  if (node.opset() < 11) {
    node.check_inputs(1, 1);
    clip.alpha = node.real("min", clip.alpha);
    clip.beta = node.real("max", clip.beta);
    return OnnxComputed{ActivationOp{clip}};
  }
  node.check_inputs(1, 3);
  for (size_t i = 1; i < node.input_count(); ++i) {
    if (!node.has_input(i) || node.input(i).onnx_type == node.input(0).onnx_type) continue;
    throw bad_input("input types must match: bound '{}' is {}, the input is {}", printable(node.input(i).name),
                    onnx_type_name(node.input(i).onnx_type), onnx_type_name(node.input(0).onnx_type));
  }
  const auto computed = [&](size_t i) { return node.has_input(i) && !node.input(i).constant; };
  if (computed(1) || computed(2) || !is_real(node.input(0).type)) return clip_between_values(node);
  clip.alpha = node.constant_real(1, "min", clip.alpha);
  clip.beta = node.constant_real(2, "max", clip.beta);
  return OnnxComputed{ActivationOp{clip}};
}

/// Translates a conversion to `type`.
OnnxMeaning converted_to(const OnnxNode& node, int32_t type) {
  const OnnxValue& x = node.input(0);
  const ElementType wanted = element_type(type);
  if (x.constant || x.trial) return OnnxPassed{type};
  if (type == kBool)
    return x.onnx_type == kBool ? OnnxMeaning(OnnxPassed{type}) : OnnxComputed{UnaryOp{UnaryKind::to_bool}, 1, type};
  const bool from_reals = is_real(x.type),
             to_reals = wanted == ElementType::f32 || wanted == ElementType::f16 || wanted == ElementType::f64;
  // 8-bit integers are exact in fp16.
  const bool rounds = x.type == ElementType::f32 || x.type == ElementType::f64 || x.type == ElementType::i32 ||
                      x.type == ElementType::i64;
  if (type == onnx::TensorProto::FLOAT16)
    return rounds ? OnnxMeaning(OnnxComputed{RoundOp{}, 1, type}) : OnnxPassed{type};
  if (type == onnx::TensorProto::BFLOAT16) {
    return x.onnx_type == type ? OnnxMeaning(OnnxPassed{type}) : OnnxComputed{RoundOp{.brain = true}, 1, type};
  }
  if (to_reals) return OnnxPassed{type};
  if (from_reals) return OnnxComputed{UnaryOp{UnaryKind::truncate}, 1, type};
  const std::optional<WholeRange> from = whole_range(x.onnx_type), to = whole_range(type);
  const bool fits = !to || x.onnx_type == kBool || (from && from->low >= to->low && from->high <= to->high);
  if (fits) return OnnxPassed{type};
  OnnxRecipe recipe(1);
  recipe.give(wrapped(recipe, 0, type));
  return recipe;
}

OnnxMeaning read_cast(const OnnxNode& node) {
  node.check_inputs(1, 1);
  const int64_t number = node.integer("to");
  node.ignore("saturate");    // only for types that are not supported
  node.ignore("round_mode");  // likewise
  if (number < 0 || number > INT32_MAX)
    throw bad_input("attribute 'to' must be an ONNX element type, got number {}", number);
  return converted_to(node, static_cast<int32_t>(number));
}

OnnxMeaning read_cast_like(const OnnxNode& node) {
  node.check_inputs(2, 2);
  node.ignore("saturate");
  node.ignore("round_mode");
  return converted_to(node, node.input(1).onnx_type);
}

void cast_to(OnnxNodeWriter& node, OnnxWriter::Type type) {
  node.integer("to", type);
  node.gives(type);
}

}  // namespace

template <>
struct OnnxOp<ActivationOp> {
  static OnnxReaders readers() {
    return {{"Clip", read_clip},
            {"LeakyRelu", read_leaky_relu},
            {"Relu", read_activation<ActivationKind::relu>},
            {"Sigmoid", read_activation<ActivationKind::sigmoid>},
            {"Tanh", read_activation<ActivationKind::tanh>}};
  }
  static void write(OnnxNodeWriter& node, const ActivationOp& op) {
    const Activation& activation = op.activation;
    if (activation.kind == ActivationKind::leaky_relu) node.real("alpha", activation.alpha);
    if (activation.kind != ActivationKind::clip) return;
    node.real_input("min", activation.alpha);
    node.real_input("max", activation.beta);
  }
};

template <>
struct OnnxOp<RoundOp> {
  static OnnxReaders readers() { return {{"Cast", read_cast}, {"CastLike", read_cast_like}}; }
  static void write(OnnxNodeWriter& node, const RoundOp& op) {
    cast_to(node, op.brain ? Proto::BFLOAT16 : Proto::FLOAT16);
  }
};

template <>
struct OnnxOp<UnaryOp> {
  static OnnxReaders readers() {
    return {{"Abs", read_unary<UnaryKind::abs>},
            {"Acos", read_unary<UnaryKind::acos>},
            {"Acosh", read_unary<UnaryKind::acosh>},
            {"Asin", read_unary<UnaryKind::asin>},
            {"Asinh", read_unary<UnaryKind::asinh>},
            {"Atan", read_unary<UnaryKind::atan>},
            {"Atanh", read_unary<UnaryKind::atanh>},
            {"Ceil", read_unary<UnaryKind::ceil>},
            {"Celu", read_celu},
            {"Cos", read_unary<UnaryKind::cos>},
            {"Cosh", read_unary<UnaryKind::cosh>},
            {"Elu", read_elu},
            {"Erf", read_unary<UnaryKind::erf>},
            {"Exp", read_unary<UnaryKind::exp>},
            {"Floor", read_unary<UnaryKind::floor>},
            {"Gelu", read_gelu},
            {"HardSigmoid", read_hard_sigmoid},
            {"HardSwish", read_unary<UnaryKind::hard_swish>},
            {"IsInf", read_is_inf},
            {"IsNaN", read_truth<UnaryKind::is_nan>},
            {"Log", read_unary<UnaryKind::log>},
            {"Mish", read_unary<UnaryKind::mish>},
            {"Neg", read_unary<UnaryKind::neg>},
            {"Not", read_truth<UnaryKind::logical_not>},
            {"Reciprocal", read_unary<UnaryKind::reciprocal>},
            {"Round", read_unary<UnaryKind::round>},
            {"Selu", read_selu},
            {"Shrink", read_shrink},
            {"Sign", read_unary<UnaryKind::sign>},
            {"Sin", read_unary<UnaryKind::sin>},
            {"Sinh", read_unary<UnaryKind::sinh>},
            {"Softplus", read_unary<UnaryKind::softplus>},
            {"Softsign", read_unary<UnaryKind::softsign>},
            {"Sqrt", read_unary<UnaryKind::sqrt>},
            {"Swish", read_swish},
            {"Tan", read_unary<UnaryKind::tan>},
            {"ThresholdedRelu", read_thresholded_relu}};
  }
  static void write(OnnxNodeWriter& node, const UnaryOp& op) {
    switch (op.kind) {
      case UnaryKind::elu:
      case UnaryKind::celu:
      case UnaryKind::thresholded_relu:
        return node.real("alpha", op.alpha);
      case UnaryKind::selu:
        node.real("alpha", op.alpha);
        return node.real("gamma", op.beta);
      case UnaryKind::hard_sigmoid:
        node.real("alpha", op.alpha);
        return node.real("beta", op.beta);
      case UnaryKind::shrink:
        node.real("lambd", op.alpha);
        return node.real("bias", op.beta);
      case UnaryKind::swish:
        node.need_opset(24);
        return node.real("alpha", op.alpha);
      case UnaryKind::hard_swish:
      case UnaryKind::mish:
      case UnaryKind::gelu:
        return node.need_opset(21);
      case UnaryKind::gelu_tanh:
        node.need_opset(21);
        return node.text("approximate", "tanh");
      case UnaryKind::is_inf:
        node.integer("detect_negative", op.alpha != 0);
        node.integer("detect_positive", op.beta != 0);
        return node.gives(Proto::BOOL);
      case UnaryKind::is_nan:
        return node.gives(Proto::BOOL);
      case UnaryKind::logical_not:
        node.operands(Proto::BOOL);
        return node.gives(Proto::BOOL);
      case UnaryKind::truncate:
        return cast_to(node, Proto::INT64);
      case UnaryKind::to_bool:
        return cast_to(node, Proto::BOOL);
      default:
        return;
    }
  }
};

template <>
struct OnnxOp<AddOp> {
  static OnnxReaders readers() { return {{"Add", read_add}, {"Mean", read_mean}, {"Sum", read_sum}}; }
  static void write(OnnxNodeWriter&, const AddOp&) {}
};

template <>
struct OnnxOp<MulOp> {
  static OnnxMeaning read(const OnnxNode& node) { return arithmetic(node, MulOp{}); }
  static OnnxReaders readers() { return {{"Mul", read}}; }
  static void write(OnnxNodeWriter&, const MulOp&) {}
};

template <>
struct OnnxOp<BinaryOp> {
  static OnnxReaders readers() {
    return {{"And", read_comparison<BinaryKind::logical_and>},
            {"Div", read_div},
            {"Equal", read_comparison<BinaryKind::equal>},
            {"Greater", read_comparison<BinaryKind::greater>},
            {"GreaterOrEqual", read_comparison<BinaryKind::greater_equal>},
            {"Less", read_comparison<BinaryKind::less>},
            {"LessOrEqual", read_comparison<BinaryKind::less_equal>},
            {"Max", read_max},
            {"Min", read_min},
            {"Mod", read_mod},
            {"Or", read_comparison<BinaryKind::logical_or>},
            {"PRelu", read_prelu},
            {"Pow", read_pow},
            {"Sub", read_sub},
            {"Xor", read_comparison<BinaryKind::logical_xor>}};
  }
  static void write(OnnxNodeWriter& node, const BinaryOp& op) {
    switch (op.kind) {
      case BinaryKind::modulo:  // only integers
        node.operands(Proto::INT64);
        return node.gives(Proto::INT64);
      case BinaryKind::fmod:
        return node.integer("fmod", 1);
      case BinaryKind::logical_and:
      case BinaryKind::logical_or:
      case BinaryKind::logical_xor:
        node.operands(Proto::BOOL);
        return node.gives(Proto::BOOL);
      case BinaryKind::equal:
      case BinaryKind::greater:
      case BinaryKind::greater_equal:
      case BinaryKind::less:
      case BinaryKind::less_equal:
        return node.gives(Proto::BOOL);
      default:
        return;
    }
  }
};

template <>
struct OnnxOp<WhereOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(3, 3);
    return OnnxComputed{WhereOp{}, 3, node.input(1).onnx_type};
  }
  static OnnxReaders readers() { return {{"Where", read}}; }
  static void write(OnnxNodeWriter& node, const WhereOp&) { node.operand(Proto::BOOL); }
};

template <>
std::vector<OnnxOpEntry> OnnxOpEntry::rows<ElementwiseOps>() {
  return rows_of<OnnxOpEntry>(ElementwiseOps());
}

}  // namespace convlab
