// Reductions and other operators along axes in ONNX, for each opset.

#include "convlab/base/error.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/ops/onnx_op.h"

namespace convlab {
namespace {

using Proto = onnx::TensorProto;

template <ReduceKind kind>
OnnxMeaning read_reduce(const OnnxNode& node) {
  constexpr int64_t kSince = kind == ReduceKind::sum ? 13 : 18;
  ReduceOp op{.kind = kind, .axes = read_axes(node, kSince, 1), .keep_dims = node.flag("keepdims", true)};
  const bool nothing = node.opset() >= kSince && node.flag("noop_with_empty_axes", false) && op.axes.empty();
  if (!nothing) return OnnxComputed{op};
  // Reduce each element separately, along a new axis of size 1.
  OnnxRecipe recipe(node.input_count());
  op.axes = {0};
  op.keep_dims = false;
  recipe.give(recipe.add(op, {recipe.add(UnsqueezeOp{{0}}, {0})}));
  return recipe;
}

OnnxMeaning read_arg(const OnnxNode& node, bool largest) {
  node.check_inputs(1, 1);
  return OnnxComputed{ArgReduceOp{.axis = node.integer("axis", 0),
                                  .keep_dims = node.flag("keepdims", true),
                                  .largest = largest,
                                  .last = node.opset() >= 12 && node.flag("select_last_index", false)},
                      1, Proto::INT64};
}

OnnxMeaning read_arg_max(const OnnxNode& node) { return read_arg(node, true); }
OnnxMeaning read_arg_min(const OnnxNode& node) { return read_arg(node, false); }

}  // namespace

template <>
struct OnnxOp<ReduceOp> {
  static OnnxReaders readers() {
    return {
        {"ReduceL1", read_reduce<ReduceKind::l1>},          {"ReduceL2", read_reduce<ReduceKind::l2>},
        {"ReduceLogSum", read_reduce<ReduceKind::log_sum>}, {"ReduceLogSumExp", read_reduce<ReduceKind::log_sum_exp>},
        {"ReduceMax", read_reduce<ReduceKind::max>},        {"ReduceMean", read_reduce<ReduceKind::mean>},
        {"ReduceMin", read_reduce<ReduceKind::min>},        {"ReduceProd", read_reduce<ReduceKind::prod>},
        {"ReduceSum", read_reduce<ReduceKind::sum>},        {"ReduceSumSquare", read_reduce<ReduceKind::sum_square>}};
  }
  static void write(OnnxNodeWriter& node, const ReduceOp& op) {
    node.need_opset(21);
    node.integer("keepdims", op.keep_dims);
    if (!op.axes.empty()) node.integer_input("axes", op.axes);
  }
};

template <>
struct OnnxOp<ArgReduceOp> {
  static OnnxReaders readers() { return {{"ArgMax", read_arg_max}, {"ArgMin", read_arg_min}}; }
  static void write(OnnxNodeWriter& node, const ArgReduceOp& op) {
    node.integer("axis", op.axis);
    node.integer("keepdims", op.keep_dims);
    if (op.last) node.integer("select_last_index", 1);
    node.gives(Proto::INT64);
  }
};

template <>
struct OnnxOp<TopKOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    TopKOp op{.axis = node.integer("axis", -1)};
    if (node.opset() < 10) {
      node.check_inputs(1, 1);
      op.k = node.integer("k");
    } else {
      node.check_inputs(2, 2);
      const std::vector<int64_t> k = node.constant_integers(1, "k");
      if (k.size() != 1) throw bad_input("k must have 1 element, got {}", k.size());
      op.k = k[0];
    }
    if (node.opset() >= 11) {
      op.largest = node.flag("largest", true);
      op.sorted = node.flag("sorted", true);
    }
    OnnxRecipe recipe(node.input_count());
    recipe.give(recipe.add(op, {0}));
    op.indices = true;
    recipe.give(recipe.add(op, {0}, Proto::INT64));
    return recipe;
  }
  static OnnxReaders readers() { return {{"TopK", read}}; }
  static void write(OnnxNodeWriter& node, const TopKOp& op) {
    node.integer("axis", op.axis);
    node.integer("largest", op.largest);
    node.integer("sorted", op.sorted);
    node.integer_input("k", {op.k});
    if (!op.indices) return node.unread_last_output("indices");
    node.unread_output("values");
    node.gives(Proto::INT64);
  }
};

template <>
struct OnnxOp<CumSumOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(2, 2);
    const std::vector<int64_t> axis = node.constant_integers(1, "axis");
    if (axis.size() != 1) throw bad_input("axis must have 1 element, got {}", axis.size());
    return OnnxComputed{
        CumSumOp{.axis = axis[0], .exclusive = node.flag("exclusive", false), .reverse = node.flag("reverse", false)}};
  }
  static OnnxReaders readers() { return {{"CumSum", read}}; }
  static void write(OnnxNodeWriter& node, const CumSumOp& op) {
    if (op.exclusive) node.integer("exclusive", 1);
    if (op.reverse) node.integer("reverse", 1);
    node.single_integer_input("axis", op.axis);
  }
};

template <>
std::vector<OnnxOpEntry> OnnxOpEntry::rows<AxisOps>() {
  return rows_of<OnnxOpEntry>(AxisOps());
}

}  // namespace convlab
