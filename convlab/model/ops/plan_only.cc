// Operators that only plans contain.

#include "convlab/base/error.h"
#include "convlab/model/op_info.h"
#include "convlab/model/op_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

std::vector<Shape> squeeze_excite_shapes(const Op&, const LetterSizes& sizes) {
  const int64_t c = sizes['c'], m = sizes['m'];
  return {images_of(sizes), {m, c, 1, 1}, {m}, {c, m, 1, 1}, {c}};
}
LetterSizes squeeze_excite_sizes(const Op&, std::span<const Shape> shapes) {
  LetterSizes sizes = sizes_of(shapes, 0, "nchw");
  sizes['m'] = size_at(shapes, 1, 0);
  return sizes;
}
constexpr SizeLetters kSqueezeExciteLetters{"[n]_chw_m", "n2_c64h7w7_m16",      false,
                                            false,       squeeze_excite_shapes, squeeze_excite_sizes};

}  // namespace

template <>
struct OpInfo<ScaleOp> {
  static const char* name(const ScaleOp&) { return "Scale"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const ScaleOp& op, Shapes inputs) {
    check_image(inputs[0]);
    check_range("the output size", op.side, 1);
    return {inputs[0][0], inputs[0][1], op.side, op.side};
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, ScaleOp& op) { to.add("side", op.side); }
  static std::vector<NamedOp> names() { return {{"scale", ScaleOp{}, &kImageLetters, true}}; }
};

template <>
struct OpInfo<SqueezeExciteOp> {
  static const char* name(const SqueezeExciteOp&) { return "SqueezeExcite"; }
  static constexpr Arity kInputs{5, 5};
  static constexpr auto usually_constant = kAllButFirst;
  static Shape shape(const SqueezeExciteOp&, Shapes inputs) {
    const Shape &x = inputs[0], &w1 = inputs[1];
    check_image(x);
    check_rank(w1, 1);
    const int64_t c = x[1], m = w1[0];
    const Shape wanted[] = {x, {m, c, 1, 1}, {m}, {c, m, 1, 1}, {c}};
    for (size_t i = 1; i < 5; ++i) {
      if (inputs[i] != wanted[i]) {
        throw bad_input("input {} must have shape {}, got {}", i, to_text(wanted[i]), to_text(inputs[i]));
      }
    }
    return x;
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, SqueezeExciteOp& op) {
    const auto add_activation = [&](const std::string& name, Activation& activation) {
      std::vector<std::string> kinds{"none", "relu", "leakyrelu", "clip", "sigmoid", "tanh", "swish", "hardswish"};
      for (std::string& kind : kinds) kind.insert(0, name);
      to.add_choice(activation.kind, std::move(kinds));
      to.add((name + "alpha").c_str(), activation.alpha);
      to.add((name + "beta").c_str(), activation.beta);
    };
    add_activation("squeeze", op.squeeze);
    add_activation("excite", op.excite);
  }
  static std::vector<NamedOp> names() { return {{"squeezeexcite", SqueezeExciteOp{}, &kSqueezeExciteLetters, true}}; }
};

template <>
struct OpInfo<ArgMaxOp> {
  static const char* name(const ArgMaxOp&) { return "ArgMax"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const ArgMaxOp&, Shapes inputs) {
    if (inputs[0].empty()) throw bad_input("expected images, got a scalar");
    return {inputs[0][0]};
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, ArgMaxOp& op) { to.add_flag("finite", op.finite); }
  static std::vector<NamedOp> names() { return {{"labels", ArgMaxOp{}, nullptr, true}}; }
};

template <>
std::vector<OpEntry> OpEntry::rows<PlanOnlyOps>() {
  return rows_of<OpEntry>(PlanOnlyOps());
}

}  // namespace convlab
