// Gather and scatter in ONNX, for each opset.

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_sizes.h"
#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/onnx/ops/onnx_op.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Translates a node to one operator with this many operands. The second operand has the indices.
template <class One>
OnnxMeaning read_indexed(const OnnxNode& node, size_t operands, One op) {
  node.check_inputs(operands, operands);
  const OnnxValue& indices = node.input(1);
  if (indices.type != ElementType::i64 && indices.type != ElementType::i32) {
    throw bad_input("indices '{}' must be int64 or int32, got {}", printable(indices.name),
                    onnx_type_name(indices.onnx_type));
  }
  return OnnxComputed{std::move(op), operands};
}

/// Whether the list of indices, which depends on the batch size, is all indices along the axis in order.
bool takes_all_in_order(const OnnxNode& node, int64_t axis) {
  const OnnxValue& indices = node.input(1);
  if (!indices.trial || !node.input(0).shapes) return false;
  for (size_t trial = 0; trial < kTrialImages.size(); ++trial) {
    const Tensor wide = converted((*indices.trial)[trial], ElementType::i64);
    if (wide.count() != node.size_along(0, axis).by_trial[trial]) return false;
    int64_t place = 0;
    for (const int64_t index : wide.values<int64_t>()) {
      if (index != place++) return false;
    }
  }
  return true;
}

ScatterReduction read_reduction(const OnnxNode& node) {
  const std::string name = node.opset() < 16 ? "none" : node.text("reduction", "none");
  if (name == "none") return ScatterReduction::none;
  if (name == "add") return ScatterReduction::add;
  if (name == "mul") return ScatterReduction::mul;
  if (name == "max") return ScatterReduction::max;
  if (name == "min") return ScatterReduction::min;
  throw bad_input("reduction '{}' is not supported; supported: none, add, mul, max, min", name);
}

void write_reduction(OnnxNodeWriter& node, ScatterReduction reduction) {
  constexpr const char* kTexts[] = {"none", "add", "mul", "max", "min"};
  if (reduction == ScatterReduction::none) return;
  node.need_opset(21);
  node.text("reduction", kTexts[static_cast<int>(reduction)]);
}

/// Writes the operands of gather and scatter operators: x and the indices.
void write_indexed(OnnxNodeWriter& node) {
  node.operand();
  node.operand(onnx::TensorProto::INT64);
}

}  // namespace

template <>
struct OnnxOp<GatherOp> {
  /// PyTorch's as_strided becomes a Gather. For an array in its original order, it is only a reshape.
  static OnnxMeaning read(const OnnxNode& node) {
    const GatherOp op{node.integer("axis", 0)};
    OnnxMeaning meaning = read_indexed(node, 2, op);
    if (!takes_all_in_order(node, op.axis)) return meaning;
    const auto& indices = *node.input(1).shapes;
    const int64_t axis = normalized_axis(op.axis, node.rank(0));
    std::vector<OnnxSize> sizes;
    for (int64_t i = 0; i < node.rank(0); ++i) {
      if (i != axis) sizes.push_back(node.size_along(0, i));
      for (size_t k = 0; i == axis && k < indices[0].size(); ++k) sizes.push_back({{indices[0][k], indices[1][k]}});
    }
    return OnnxComputed{reshape_to(sizes, node.input(0))};
  }
  static OnnxReaders readers() { return {{"Gather", read}}; }
  static void write(OnnxNodeWriter& node, const GatherOp& op) {
    node.integer("axis", op.axis);
    write_indexed(node);
  }
};

template <>
struct OnnxOp<GatherElementsOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    return read_indexed(node, 2, GatherElementsOp{node.integer("axis", 0)});
  }
  static OnnxReaders readers() { return {{"GatherElements", read}}; }
  static void write(OnnxNodeWriter& node, const GatherElementsOp& op) {
    node.integer("axis", op.axis);
    write_indexed(node);
  }
};

template <>
struct OnnxOp<GatherNdOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    return read_indexed(node, 2, GatherNdOp{node.opset() < 12 ? 0 : node.integer("batch_dims", 0)});
  }
  static OnnxReaders readers() { return {{"GatherND", read}}; }
  static void write(OnnxNodeWriter& node, const GatherNdOp& op) {
    if (op.batch_dims != 0) node.integer("batch_dims", op.batch_dims);
    write_indexed(node);
  }
};

template <>
struct OnnxOp<ScatterElementsOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    const ScatterElementsOp op{.axis = node.integer("axis", 0), .reduction = read_reduction(node)};
    return read_indexed(node, 3, op);
  }
  static OnnxReaders readers() { return {{"Scatter", read}, {"ScatterElements", read}}; }
  static void write(OnnxNodeWriter& node, const ScatterElementsOp& op) {
    node.integer("axis", op.axis);
    write_reduction(node, op.reduction);
    write_indexed(node);
  }
};

template <>
struct OnnxOp<ScatterNdOp> {
  static OnnxMeaning read(const OnnxNode& node) { return read_indexed(node, 3, ScatterNdOp{read_reduction(node)}); }
  static OnnxReaders readers() { return {{"ScatterND", read}}; }
  static void write(OnnxNodeWriter& node, const ScatterNdOp& op) {
    write_reduction(node, op.reduction);
    write_indexed(node);
  }
};

template <>
std::vector<OnnxOpEntry> OnnxOpEntry::rows<GatherOps>() {
  return rows_of<OnnxOpEntry>(GatherOps());
}

}  // namespace convlab
