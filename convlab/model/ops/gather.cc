// Gather and scatter.

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/model/op_info.h"
#include "convlab/model/op_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Checks the indices of GatherElements and ScatterElements: they have x's rank, and are no longer than x along other
/// axes.
void check_elements(const Shape& x, const Shape& indices, int64_t axis) {
  const auto along = static_cast<size_t>(normalized_axis(axis, std::ssize(x)));
  bool fits = indices.size() == x.size();
  for (size_t i = 0; fits && i < x.size(); ++i) fits = i == along || indices[i] <= x[i];
  if (!fits)
    throw bad_input("indices of shape {} do not fit input of shape {} along axis {}", to_text(indices), to_text(x),
                    along);
}

/// Whether GatherElements or ScatterElements moves elements between images, or uses the same indices for all.
bool mixes_elements(int64_t axis, const SplitOperands& inputs) {
  const bool all_hold_images = std::ranges::all_of(inputs, [](const SplitOperand& input) { return input.images; });
  return !all_hold_images || is_first(axis, inputs[0].shape);
}

const std::vector<std::string> kReductions{"none", "add", "mul", "max", "min"};

}  // namespace

template <>
struct OpInfo<GatherOp> {
  static const char* name(const GatherOp&) { return "Gather"; }
  static constexpr Arity kInputs{2, 2};
  static constexpr auto usually_constant = kNone;
  static Shape shape(const GatherOp& op, Shapes inputs) {
    Shape y = inputs[0];
    const int64_t axis = normalized_axis(op.axis, std::ssize(y));
    y.erase(y.begin() + axis);
    y.insert(y.begin() + axis, inputs[1].begin(), inputs[1].end());
    return y;
  }
  static bool mixes_images(const GatherOp& op, const SplitOperands& inputs) {
    return inputs[0].images && is_first(op.axis, inputs[0].shape);
  }
  static void fields(OpFields& to, GatherOp& op) { to.add("axis", op.axis); }
  static std::vector<NamedOp> names() { return {{"gather", GatherOp{}}}; }
};

template <>
struct OpInfo<GatherElementsOp> {
  static const char* name(const GatherElementsOp&) { return "GatherElements"; }
  static constexpr Arity kInputs{2, 2};
  static constexpr auto usually_constant = kNone;
  static Shape shape(const GatherElementsOp& op, Shapes inputs) {
    check_elements(inputs[0], inputs[1], op.axis);
    return inputs[1];
  }
  static bool mixes_images(const GatherElementsOp& op, const SplitOperands& inputs) {
    return mixes_elements(op.axis, inputs);
  }
  static void fields(OpFields& to, GatherElementsOp& op) { to.add("axis", op.axis); }
  static std::vector<NamedOp> names() { return {{"gatherelements", GatherElementsOp{}}}; }
};

template <>
struct OpInfo<GatherNdOp> {
  static const char* name(const GatherNdOp&) { return "GatherND"; }
  static constexpr Arity kInputs{2, 2};
  static constexpr auto usually_constant = kNone;
  static Shape shape(const GatherNdOp& op, Shapes inputs) {
    const Shape &x = inputs[0], &indices = inputs[1];
    check_rank(indices, 1);
    const int64_t batch = op.batch_dims, length = indices.back();
    const int64_t rank = std::ssize(x);
    if (batch < 0 || batch >= std::ssize(indices) || batch >= rank || length < 1 || length > rank - batch ||
        !std::equal(x.begin(), x.begin() + batch, indices.begin())) {
      throw bad_input("indices of shape {} with batch_dims {} do not fit input of shape {}", to_text(indices), batch,
                      to_text(x));
    }
    Shape y(indices.begin(), indices.end() - 1);
    y.insert(y.end(), x.begin() + batch + length, x.end());
    return y;
  }
  static bool mixes_images(const GatherNdOp& op, const SplitOperands& inputs) {
    return inputs[0].images && op.batch_dims == 0;
  }
  static void fields(OpFields& to, GatherNdOp& op) { to.add("batchdims", op.batch_dims); }
  static std::vector<NamedOp> names() { return {{"gathernd", GatherNdOp{}}}; }
};

template <>
struct OpInfo<ScatterElementsOp> {
  static const char* name(const ScatterElementsOp&) { return "ScatterElements"; }
  static constexpr Arity kInputs{3, 3};
  static constexpr auto usually_constant = kNone;
  static Shape shape(const ScatterElementsOp& op, Shapes inputs) {
    check_elements(inputs[0], inputs[1], op.axis);
    if (inputs[2] != inputs[1]) {
      throw bad_input("updates must have the shape of the indices, {}, got {}", to_text(inputs[1]), to_text(inputs[2]));
    }
    return inputs[0];
  }
  static bool mixes_images(const ScatterElementsOp& op, const SplitOperands& inputs) {
    return mixes_elements(op.axis, inputs);
  }
  static void fields(OpFields& to, ScatterElementsOp& op) {
    to.add("axis", op.axis);
    to.add_choice(op.reduction, kReductions);
  }
  static std::vector<NamedOp> names() { return {{"scatterelements", ScatterElementsOp{}}}; }
};

template <>
struct OpInfo<ScatterNdOp> {
  static const char* name(const ScatterNdOp&) { return "ScatterND"; }
  static constexpr Arity kInputs{3, 3};
  static constexpr auto usually_constant = kNone;
  static Shape shape(const ScatterNdOp&, Shapes inputs) {
    const Shape &x = inputs[0], &indices = inputs[1];
    check_rank(indices, 1);
    if (indices.back() < 1 || indices.back() > std::ssize(x)) {
      throw bad_input("indices of shape {} do not fit input of shape {}", to_text(indices), to_text(x));
    }
    Shape wanted(indices.begin(), indices.end() - 1);
    wanted.insert(wanted.end(), x.begin() + indices.back(), x.end());
    if (inputs[2] != wanted) {
      throw bad_input("updates must have shape {}, got {}", to_text(wanted), to_text(inputs[2]));
    }
    return x;
  }
  static constexpr auto mixes_images = kAlways;
  static void fields(OpFields& to, ScatterNdOp& op) { to.add_choice(op.reduction, kReductions); }
  static std::vector<NamedOp> names() { return {{"scatternd", ScatterNdOp{}}}; }
};

template <>
std::vector<OpEntry> OpEntry::rows<GatherOps>() {
  return rows_of<OpEntry>(GatherOps());
}

}  // namespace convlab
