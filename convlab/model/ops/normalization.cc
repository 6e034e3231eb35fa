// Normalization and softmax.

#include <algorithm>
#include <iterator>

#include "convlab/base/error.h"
#include "convlab/model/op_info.h"
#include "convlab/model/op_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

const char* name_of_normalization(const NormalizeOp& op) {
  if (!op.center) return "RMSNormalization";
  return op.groups == 0 ? "LayerNormalization" : "GroupNormalization";
}

std::vector<Shape> row_shapes(const Op&, const LetterSizes& sizes) { return {{sizes['r'], sizes['c']}}; }
std::vector<Shape> normalized_row_shapes(const Op& op, const LetterSizes& sizes) {
  const Shape columns{sizes['c']};
  if (!std::get<NormalizeOp>(op).center) return {{sizes['r'], sizes['c']}, columns};
  return {{sizes['r'], sizes['c']}, columns, columns};
}
LetterSizes row_sizes(const Op&, std::span<const Shape> shapes) { return sizes_of(shapes, 0, "rc"); }
constexpr SizeLetters kRowLetters{"rc", "r64c1024", false, false, row_shapes, row_sizes};
constexpr SizeLetters kNormalizedRowLetters{"rc", "r64c768", false, false, normalized_row_shapes, row_sizes};

std::vector<Shape> batch_norm_shapes(const Op&, const LetterSizes& sizes) {
  const Shape channels{sizes['c']};
  return {images_of(sizes), channels, channels, channels, channels};
}
std::vector<Shape> group_norm_shapes(const Op&, const LetterSizes& sizes) {
  const Shape channels{sizes['c']};
  return {images_of(sizes), channels, channels};
}
constexpr SizeLetters kBatchNormLetters{kImagePattern, kImageExample, false, false, batch_norm_shapes, image_sizes};
constexpr SizeLetters kGroupNormLetters{kImagePattern, kImageExample, false, false, group_norm_shapes, image_sizes};

}  // namespace

template <>
struct OpInfo<BatchNormOp> {
  static const char* name(const BatchNormOp&) { return "BatchNormalization"; }
  static constexpr Arity kInputs{5, 5};
  static constexpr auto usually_constant = kAllButFirst;
  static Shape shape(const BatchNormOp&, Shapes inputs) {
    check_rank(inputs[0], 2);
    const char* const names[] = {"the input", "the scale", "the shift", "the mean", "the variance"};
    for (size_t i = 1; i < 5; ++i) check_vector(names[i], inputs[i], inputs[0][1]);
    return inputs[0];
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, BatchNormOp& op) { to.add("epsilon", op.epsilon); }
  static std::vector<NamedOp> names() { return {{"batchnorm", BatchNormOp{}, &kBatchNormLetters}}; }
};

template <>
struct OpInfo<NormalizeOp> {
  static const char* name(const NormalizeOp& op) { return name_of_normalization(op); }
  static constexpr Arity kInputs{1, 3};
  static constexpr auto usually_constant = kAllButFirst;
  static Shape shape(const NormalizeOp& op, Shapes inputs) {
    const Shape& x = inputs[0];
    const char* const names[] = {"the input", "the scale", "the bias"};
    const size_t given = std::min(inputs.size(), std::size(names));
    if (op.groups == 0) {
      const auto axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(x)));
      for (size_t i = 1; i < given; ++i) check_broadcasts(names[i], inputs[i], x);
      Shape y = x;
      if (op.part != NormalizePart::result) std::fill(y.begin() + static_cast<std::ptrdiff_t>(axis), y.end(), 1);
      return y;
    }
    check_rank(x, 2);
    check_range("the number of groups", op.groups, 1);
    if (x[1] % op.groups != 0) throw bad_input("channels ({}) must be a multiple of groups ({})", x[1], op.groups);
    if (op.part != NormalizePart::result) throw bad_input("mean and deviation outputs are not supported with groups");
    for (size_t i = 1; i < given; ++i) check_vector(names[i], inputs[i], x[1]);
    return x;
  }
  static bool mixes_images(const NormalizeOp& op, const SplitOperands& inputs) {
    return op.groups == 0 && is_first(op.axis, inputs[0].shape);
  }
  static void fields(OpFields& to, NormalizeOp& op) {
    to.add_kind(op.center);
    to.add("groups", op.groups);
    to.add("axis", op.axis);
    to.add("epsilon", op.epsilon);
    to.add_choice(op.part, {"result", "mean", "inversedeviation"});
  }
  static std::vector<NamedOp> names() {
    return {{"groupnorm", NormalizeOp{.groups = 1}, &kGroupNormLetters},
            {"layernorm", NormalizeOp{}, &kNormalizedRowLetters},
            {"rmsnorm", NormalizeOp{.center = false}, &kNormalizedRowLetters}};
  }
};

template <>
struct OpInfo<LpNormalizeOp> {
  static const char* name(const LpNormalizeOp&) { return "LpNormalization"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const LpNormalizeOp& op, Shapes inputs) {
    normalized_axis(op.axis, std::ssize(inputs[0]));
    if (op.p != 1 && op.p != 2) throw bad_input("p must be 1 or 2, got {}", op.p);
    return inputs[0];
  }
  static constexpr auto mixes_images = kAlongFirstAxis;
  static void fields(OpFields& to, LpNormalizeOp& op) {
    to.add("axis", op.axis);
    to.add("lp", op.p);
  }
  static std::vector<NamedOp> names() { return {{"lpnorm", LpNormalizeOp{}}}; }
};

template <>
struct OpInfo<LrnOp> {
  static const char* name(const LrnOp&) { return "LRN"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const LrnOp& op, Shapes inputs) {
    check_rank(inputs[0], 2);
    check_range("the size", op.size, 1);
    return inputs[0];
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, LrnOp& op) {
    to.add("size", op.size);
    to.add("alpha", op.alpha);
    to.add("beta", op.beta);
    to.add("bias", op.bias);
  }
  static std::vector<NamedOp> names() { return {{"lrn", LrnOp{}, &kImageLetters}}; }
};

template <>
struct OpInfo<SoftmaxOp> {
  static const char* name(const SoftmaxOp& op) { return op.log ? "LogSoftmax" : "Softmax"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const SoftmaxOp& op, Shapes inputs) {
    normalized_axis(op.axis, std::ssize(inputs[0]));
    return inputs[0];
  }
  static constexpr auto mixes_images = kAlongFirstAxis;
  static void fields(OpFields& to, SoftmaxOp& op) {
    to.add_kind(op.log);
    to.add("axis", op.axis);
    to.add_flag("flattened", op.flattened);
  }
  static std::vector<NamedOp> names() {
    return {{"softmax", SoftmaxOp{}, &kRowLetters}, {"logsoftmax", SoftmaxOp{.log = true}, &kRowLetters}};
  }
};

template <>
std::vector<OpEntry> OpEntry::rows<NormalizationOps>() {
  return rows_of<OpEntry>(NormalizationOps());
}

}  // namespace convlab
