// Writes rearrangements, slices, gather and scatter to ONNX.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "convlab/model/onnx/writing/onnx_writers.h"
#include "convlab/tensor/tensor.h"

namespace convlab {
namespace {

using Proto = onnx::TensorProto;

void write_reduction(OnnxNodeWriter& node, ScatterReduction reduction) {
  constexpr const char* kTexts[] = {"none", "add", "mul", "max", "min"};
  if (reduction == ScatterReduction::none) return;
  node.need_opset(21);
  node.text("reduction", kTexts[static_cast<int>(reduction)]);
}

/// Writes the operands of gather and scatter operators: x and the indices.
void write_indexed(OnnxNodeWriter& node) {
  node.operand();
  node.operand(Proto::INT64);
}

/// Writes nodes before an Expand that compute its sizes: the batch size times its multiples, plus the fixed sizes.
/// Returns the name of the sizes.
std::string written_sizes(OnnxNodeWriter& node, const ExpandOp& op, const Shape& shape) {
  OnnxWriter& file = node.file();
  const std::string& name = file.name(node.node().output);
  const auto add = [&](const char* op_type, const std::vector<std::string>& inputs, const char* what) {
    onnx::NodeProto before;
    before.set_name(fmt::format("{}.{}", node.node().name, what));
    before.set_op_type(op_type);
    for (const std::string& input : inputs) before.add_input(input);
    before.add_output(file.fresh(fmt::format("{}.{}", name, what)));
    std::string output = before.output(0);
    file.add(std::move(before));
    return output;
  };
  const auto constant = [&](const char* what, const std::vector<int64_t>& values) {
    return file.add_constant(fmt::format("{}.{}", name, what), Proto::INT64,
                             Tensor::of<int64_t>({std::ssize(values)}, values));
  };
  std::vector<int64_t> times, others;
  for (const int64_t size : shape) {
    times.push_back(size == ExpandOp::kImages ? op.per_image : 0);
    others.push_back(size == ExpandOp::kImages ? 0 : size);
  }
  const std::string all = add("Shape", {file.form(node.node().inputs[1], Proto::FLOAT)}, "images_shape");
  const std::string images = add("Gather", {all, constant("first", {0})}, "images");
  const std::string scaled = add("Mul", {images, constant("times", times)}, "scaled");
  return add("Add", {scaled, constant("others", others)}, "sizes");
}

}  // namespace

void write(OnnxNodeWriter& node, const ConcatOp& op) { node.integer("axis", op.axis); }
void write(OnnxNodeWriter& node, const FlattenOp& op) { node.integer("axis", op.axis); }
void write(OnnxNodeWriter& node, const ReshapeOp& op) { node.integer_input("shape", op.shape); }
void write(OnnxNodeWriter& node, const SqueezeOp& op) {
  if (!op.axes.empty()) node.integer_input("axes", op.axes);
}
void write(OnnxNodeWriter& node, const UnsqueezeOp& op) { node.integer_input("axes", op.axes); }
void write(OnnxNodeWriter& node, const TransposeOp& op) {
  if (!op.permutation.empty()) node.integers("perm", op.permutation);
}

void write(OnnxNodeWriter& node, const PadOp& op) {
  constexpr const char* kModes[] = {"constant", "reflect", "edge", "wrap"};
  if (op.mode == PadMode::wrap) node.need_opset(21);
  node.text("mode", kModes[static_cast<int>(op.mode)]);
  node.integer_input("pads", op.pads);
  if (op.mode == PadMode::constant) node.real_input("value", op.value);
}

void write(OnnxNodeWriter& node, const SliceOp& op) {
  std::vector<int64_t> axes = op.axes;
  if (axes.empty()) {
    axes.resize(op.starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  node.integer_input("starts", op.starts);
  node.integer_input("ends", op.ends);
  node.integer_input("axes", axes);
  if (!op.steps.empty()) node.integer_input("steps", op.steps);
}

void write(OnnxNodeWriter& node, const ExpandOp& op) {
  Shape shape = op.shape;
  std::ranges::replace(shape, int64_t{-1}, int64_t{1});  // 1 keeps the input's size, too
  if (node.operands_left() == 1) return node.integer_input("shape", shape);
  node.operand();
  node.operand_as(written_sizes(node, op, shape));
}

void write(OnnxNodeWriter& node, const TileOp& op) { node.integer_input("repeats", op.repeats); }

void write(OnnxNodeWriter& node, const DepthToSpaceOp& op) {
  node.integer("blocksize", op.block);
  node.text("mode", op.columns_rows_depth ? "CRD" : "DCR");
}
void write(OnnxNodeWriter& node, const SpaceToDepthOp& op) { node.integer("blocksize", op.block); }

void write(OnnxNodeWriter& node, const TriluOp& op) {
  node.need_opset(21);
  node.integer("upper", op.upper);
  node.single_integer_input("k", op.k);
}

// ---- Gather and scatter ----

void write(OnnxNodeWriter& node, const GatherOp& op) {
  node.integer("axis", op.axis);
  write_indexed(node);
}
void write(OnnxNodeWriter& node, const GatherElementsOp& op) {
  node.integer("axis", op.axis);
  write_indexed(node);
}
void write(OnnxNodeWriter& node, const GatherNdOp& op) {
  if (op.batch_dims != 0) node.integer("batch_dims", op.batch_dims);
  write_indexed(node);
}
void write(OnnxNodeWriter& node, const ScatterElementsOp& op) {
  node.integer("axis", op.axis);
  write_reduction(node, op.reduction);
  write_indexed(node);
}
void write(OnnxNodeWriter& node, const ScatterNdOp& op) {
  write_reduction(node, op.reduction);
  write_indexed(node);
}

}  // namespace convlab
