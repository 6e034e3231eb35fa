// Elementwise operators.

#include <iterator>
#include <limits>

#include "convlab/model/op_info.h"
#include "convlab/model/op_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

const char* name_of(ActivationKind kind) {
  constexpr const char* kNames[] = {"Identity", "Relu", "LeakyRelu", "Clip", "Sigmoid", "Tanh", "Swish", "HardSwish"};
  static_assert(std::size(kNames) == static_cast<size_t>(ActivationKind::hard_swish) + 1);
  return kNames[static_cast<size_t>(kind)];
}

/// The names of an operator's kind, in ONNX and in problem texts.
struct KindName {
  const char *onnx, *text;
};
constexpr KindName kUnaryNames[] = {{"Abs", "abs"},
                                    {"Neg", "neg"},
                                    {"Sign", "sign"},
                                    {"Reciprocal", "reciprocal"},
                                    {"Sqrt", "sqrt"},
                                    {"Exp", "exp"},
                                    {"Log", "log"},
                                    {"Erf", "erf"},
                                    {"Floor", "floor"},
                                    {"Ceil", "ceil"},
                                    {"Round", "round"},
                                    {"Cast", "castint"},
                                    {"Cast", "castbool"},
                                    {"Not", "not"},
                                    {"IsNaN", "isnan"},
                                    {"IsInf", "isinf"},
                                    {"Sin", "sin"},
                                    {"Cos", "cos"},
                                    {"Tan", "tan"},
                                    {"Asin", "asin"},
                                    {"Acos", "acos"},
                                    {"Atan", "atan"},
                                    {"Sinh", "sinh"},
                                    {"Cosh", "cosh"},
                                    {"Asinh", "asinh"},
                                    {"Acosh", "acosh"},
                                    {"Atanh", "atanh"},
                                    {"Softplus", "softplus"},
                                    {"Softsign", "softsign"},
                                    {"Elu", "elu"},
                                    {"Selu", "selu"},
                                    {"Celu", "celu"},
                                    {"HardSigmoid", "hardsigmoid"},
                                    {"HardSwish", "hardswish"},
                                    {"Mish", "mish"},
                                    {"Swish", "swish"},
                                    {"Gelu", "gelu"},
                                    {"Gelu", "gelutanh"},
                                    {"ThresholdedRelu", "thresholdedrelu"},
                                    {"Shrink", "shrink"}};
static_assert(std::size(kUnaryNames) == static_cast<size_t>(UnaryKind::shrink) + 1);
constexpr KindName kBinaryNames[] = {{"Sub", "sub"},         {"Div", "div"},
                                     {"Min", "min"},         {"Max", "max"},
                                     {"Pow", "pow"},         {"Mod", "mod"},
                                     {"Mod", "fmod"},        {"Equal", "equal"},
                                     {"Greater", "greater"}, {"GreaterOrEqual", "greaterorequal"},
                                     {"Less", "less"},       {"LessOrEqual", "lessorequal"},
                                     {"And", "and"},         {"Or", "or"},
                                     {"Xor", "xor"},         {"PRelu", "prelu"}};
static_assert(std::size(kBinaryNames) == static_cast<size_t>(BinaryKind::prelu) + 1);

/// Returns the operator with ONNX's default values of its attributes.
UnaryOp unary(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::is_inf:
      return UnaryOp{kind, 1, 1};
    case UnaryKind::elu:
    case UnaryKind::celu:
    case UnaryKind::swish:
    case UnaryKind::thresholded_relu:
      return UnaryOp{kind, 1};
    case UnaryKind::selu:
      return UnaryOp{kind, 1.67326319217681884765625f, 1.05070102214813232421875f};
    case UnaryKind::hard_sigmoid:
      return UnaryOp{kind, 0.2f, 0.5f};
    case UnaryKind::shrink:
      return UnaryOp{kind, 0.5f};
    default:
      return UnaryOp{kind};
  }
}

}  // namespace

template <>
struct OpInfo<ActivationOp> {
  static const char* name(const ActivationOp& op) { return name_of(op.activation.kind); }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const ActivationOp&, Shapes inputs) { return inputs[0]; }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, ActivationOp& op) {
    Activation& of = op.activation;
    to.add_kind(of.kind);
    if (of.kind == ActivationKind::leaky_relu) to.add("alpha", of.alpha);
    if (of.kind == ActivationKind::clip) to.add("min", of.alpha), to.add("max", of.beta);
  }
  static std::vector<NamedOp> names() {
    using Real = std::numeric_limits<float>;
    const auto make = [](ActivationKind kind, float alpha = 0, float beta = 0) {
      return ActivationOp{{kind, alpha, beta}};
    };
    return {{"identity", make(ActivationKind::none)},
            {"relu", make(ActivationKind::relu)},
            {"leakyrelu", make(ActivationKind::leaky_relu, 0.01f)},
            {"clip", make(ActivationKind::clip, Real::lowest(), Real::max())},
            {"sigmoid", make(ActivationKind::sigmoid)},
            {"tanh", make(ActivationKind::tanh)}};
  }
};

template <>
struct OpInfo<RoundOp> {
  static const char* name(const RoundOp&) { return "Cast"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const RoundOp&, Shapes inputs) { return inputs[0]; }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, RoundOp& op) { to.add_kind(op.brain); }
  static std::vector<NamedOp> names() { return {{"castfp16", RoundOp{}}, {"castbf16", RoundOp{.brain = true}}}; }
};

template <>
struct OpInfo<UnaryOp> {
  static const char* name(const UnaryOp& op) { return kUnaryNames[static_cast<size_t>(op.kind)].onnx; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const UnaryOp&, Shapes inputs) { return inputs[0]; }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, UnaryOp& op) {
    to.add_kind(op.kind);
    switch (op.kind) {
      case UnaryKind::is_inf:
        to.add("negative", op.alpha);
        return to.add("positive", op.beta);
      case UnaryKind::elu:
      case UnaryKind::celu:
      case UnaryKind::swish:
      case UnaryKind::thresholded_relu:
        return to.add("alpha", op.alpha);
      case UnaryKind::selu:
        to.add("alpha", op.alpha);
        return to.add("gamma", op.beta);
      case UnaryKind::hard_sigmoid:
        to.add("alpha", op.alpha);
        return to.add("beta", op.beta);
      case UnaryKind::shrink:
        to.add("lambd", op.alpha);
        return to.add("bias", op.beta);
      default:
        return;
    }
  }
  static std::vector<NamedOp> names() {
    std::vector<NamedOp> names;
    for (size_t i = 0; i < std::size(kUnaryNames); ++i)
      names.push_back({kUnaryNames[i].text, unary(static_cast<UnaryKind>(i))});
    return names;
  }
};

template <>
struct OpInfo<AddOp> {
  static const char* name(const AddOp&) { return "Add"; }
  static constexpr Arity kInputs{2, 2};
  static constexpr auto usually_constant = kSameForAllImages;
  static Shape shape(const AddOp&, Shapes inputs) { return broadcast_shape(inputs[0], inputs[1]); }
  static constexpr auto mixes_images = kNever;
  static std::vector<NamedOp> names() { return {{"add", AddOp{}}}; }
};

template <>
struct OpInfo<MulOp> {
  static const char* name(const MulOp&) { return "Mul"; }
  static constexpr Arity kInputs{2, 2};
  static constexpr auto usually_constant = kSameForAllImages;
  static Shape shape(const MulOp&, Shapes inputs) { return broadcast_shape(inputs[0], inputs[1]); }
  static constexpr auto mixes_images = kNever;
  static std::vector<NamedOp> names() { return {{"mul", MulOp{}}}; }
};

template <>
struct OpInfo<BinaryOp> {
  static const char* name(const BinaryOp& op) { return kBinaryNames[static_cast<size_t>(op.kind)].onnx; }
  static constexpr Arity kInputs{2, 2};
  static bool usually_constant(const BinaryOp& op, Shapes inputs, size_t input) {
    return op.kind == BinaryKind::prelu ? input > 0 : kSameForAllImages(op, inputs, input);
  }
  static Shape shape(const BinaryOp& op, Shapes inputs) {
    if (op.kind == BinaryKind::prelu) check_broadcasts("the slope", inputs[1], inputs[0]);
    return broadcast_shape(inputs[0], inputs[1]);
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, BinaryOp& op) { to.add_kind(op.kind); }
  static std::vector<NamedOp> names() {
    std::vector<NamedOp> names;
    for (size_t i = 0; i < std::size(kBinaryNames); ++i)
      names.push_back({kBinaryNames[i].text, BinaryOp{static_cast<BinaryKind>(i)}});
    return names;
  }
};

template <>
struct OpInfo<WhereOp> {
  static const char* name(const WhereOp&) { return "Where"; }
  static constexpr Arity kInputs{3, 3};
  static constexpr auto usually_constant = kSameForAllImages;
  static Shape shape(const WhereOp&, Shapes inputs) {
    return broadcast_shape(inputs[0], broadcast_shape(inputs[1], inputs[2]));
  }
  static constexpr auto mixes_images = kNever;
  static std::vector<NamedOp> names() { return {{"where", WhereOp{}}}; }
};

template <>
std::vector<OpEntry> OpEntry::rows<ElementwiseOps>() {
  return rows_of<OpEntry>(ElementwiseOps());
}

}  // namespace convlab
