// Reductions and other operators along axes.

#include <iterator>

#include "convlab/base/error.h"
#include "convlab/model/op_info.h"
#include "convlab/model/op_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// The names of a reduction, in ONNX and in problem texts.
struct ReduceName {
  const char *onnx, *text;
};
constexpr ReduceName kReduceNames[] = {{"ReduceSum", "reducesum"},
                                       {"ReduceMean", "reducemean"},
                                       {"ReduceMax", "reducemax"},
                                       {"ReduceMin", "reducemin"},
                                       {"ReduceProd", "reduceprod"},
                                       {"ReduceL1", "reducel1"},
                                       {"ReduceL2", "reducel2"},
                                       {"ReduceLogSum", "reducelogsum"},
                                       {"ReduceLogSumExp", "reducelogsumexp"},
                                       {"ReduceSumSquare", "reducesumsquare"}};
static_assert(std::size(kReduceNames) == static_cast<size_t>(ReduceKind::sum_square) + 1);

}  // namespace

std::vector<bool> reduced_axes(const ReduceOp& op, size_t rank) {
  if (op.axes.empty()) return std::vector<bool>(rank, true);
  return marked(op.axes, static_cast<int64_t>(rank));
}

template <>
struct OpInfo<ReduceOp> {
  static const char* name(const ReduceOp& op) { return kReduceNames[static_cast<size_t>(op.kind)].onnx; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const ReduceOp& op, Shapes inputs) {
    const Shape& x = inputs[0];
    const std::vector<bool> reduced = reduced_axes(op, x.size());
    Shape y;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!reduced[i]) y.push_back(x[i]);
      if (reduced[i] && op.keep_dims) y.push_back(1);
    }
    return y;
  }
  static bool mixes_images(const ReduceOp& op, const SplitOperands& inputs) {
    return inputs[0].shape.empty() || reduced_axes(op, inputs[0].shape.size())[0];
  }
  static void fields(OpFields& to, ReduceOp& op) {
    to.add_kind(op.kind);
    to.add("axes", op.axes);
    to.add_flag("dropdims", op.keep_dims);
  }
  static std::vector<NamedOp> names() {
    std::vector<NamedOp> names;
    for (size_t i = 0; i < std::size(kReduceNames); ++i)
      names.push_back({kReduceNames[i].text, ReduceOp{.kind = static_cast<ReduceKind>(i)}});
    return names;
  }
};

template <>
struct OpInfo<ArgReduceOp> {
  static const char* name(const ArgReduceOp& op) { return op.largest ? "ArgMax" : "ArgMin"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const ArgReduceOp& op, Shapes inputs) {
    Shape y = inputs[0];
    const int64_t axis = normalized_axis(op.axis, std::ssize(y));
    int64_t& size = y[static_cast<size_t>(axis)];
    if (size == 0) throw bad_input("axis {} of shape {} has no elements", axis, to_text(y));
    size = 1;
    if (!op.keep_dims) y.erase(y.begin() + axis);
    return y;
  }
  static constexpr auto mixes_images = kAlongFirstAxis;
  static void fields(OpFields& to, ArgReduceOp& op) {
    to.add_kind(op.largest);
    to.add("axis", op.axis);
    to.add_flag("dropdims", op.keep_dims);
    to.add_flag("last", op.last);
  }
  static std::vector<NamedOp> names() { return {{"argmax", ArgReduceOp{}}, {"argmin", ArgReduceOp{.largest = false}}}; }
};

template <>
struct OpInfo<TopKOp> {
  static const char* name(const TopKOp&) { return "TopK"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const TopKOp& op, Shapes inputs) {
    Shape y = inputs[0];
    int64_t& size = y[static_cast<size_t>(normalized_axis(op.axis, std::ssize(y)))];
    if (op.k < 1 || op.k > size) throw bad_input("k must be between 1 and {}, got {}", size, op.k);
    size = op.k;
    return y;
  }
  static constexpr auto mixes_images = kAlongFirstAxis;
  static void fields(OpFields& to, TopKOp& op) {
    to.add("k", op.k);
    to.add("axis", op.axis);
    to.add_flag("smallest", op.largest);
    to.add_flag("unsorted", op.sorted);
    to.add_flag("indices", op.indices);
  }
  static std::vector<NamedOp> names() { return {{"topk", TopKOp{}}}; }
};

template <>
struct OpInfo<CumSumOp> {
  static const char* name(const CumSumOp&) { return "CumSum"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const CumSumOp& op, Shapes inputs) {
    normalized_axis(op.axis, std::ssize(inputs[0]));
    return inputs[0];
  }
  static constexpr auto mixes_images = kAlongFirstAxis;
  static void fields(OpFields& to, CumSumOp& op) {
    to.add("axis", op.axis);
    to.add_flag("exclusive", op.exclusive);
    to.add_flag("reverse", op.reverse);
  }
  static std::vector<NamedOp> names() { return {{"cumsum", CumSumOp{}}}; }
};

template <>
std::vector<OpEntry> OpEntry::rows<AxisOps>() {
  return rows_of<OpEntry>(AxisOps());
}

}  // namespace convlab
