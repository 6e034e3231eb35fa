// Writes reductions, normalization and matrix products to ONNX.

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/model/onnx/writing/onnx_writers.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

using Proto = onnx::TensorProto;

/// Writes a scale of ones for a LayerNormalization, which requires a scale: with all sizes from the axis on if they are
/// known, otherwise with one element, which broadcasts.
void write_ones(OnnxNodeWriter& node, int64_t axis) {
  const std::optional<Shape>& x = node.file().shape(node.node().inputs[0]);
  Shape shape{1};
  if (x) {
    const int64_t from = normalized_axis(axis, std::ssize(*x));
    const Shape sizes(x->begin() + from, x->end());
    if (std::ranges::count(sizes, -1) == 0) shape = sizes;
  }
  Tensor ones(ElementType::f32, shape);
  std::ranges::fill(ones.values<float>(), 1.0f);
  node.constant_input("scale", Proto::FLOAT, ones);
}

}  // namespace

void write(OnnxNodeWriter& node, const BatchNormOp& op) { node.real("epsilon", op.epsilon); }

void write(OnnxNodeWriter& node, const NormalizeOp& op) {
  const Node& own = node.node();
  const Tensor* scale = own.inputs.size() > 1 ? node.file().constant(own.inputs[1]) : nullptr;
  if (op.groups != 0 && own.inputs.size() == 3 && scale != nullptr && scale->count() == op.groups) {
    node.rename("InstanceNormalization");  // exists in older opsets
    return node.real("epsilon", op.epsilon);
  }
  node.need_opset(op.center ? 21 : 23);
  node.real("epsilon", op.epsilon);
  if (op.groups != 0) return node.integer("num_groups", op.groups);
  node.integer("axis", op.axis);
  node.operands();
  if (node.node().inputs.size() == 1) write_ones(node, op.axis);
  if (op.part == NormalizePart::result) return;
  node.unread_output("normalized");
  if (op.part == NormalizePart::inverse_deviation) node.unread_output("mean");
}

void write(OnnxNodeWriter& node, const LpNormalizeOp& op) {
  node.integer("axis", op.axis);
  node.integer("p", op.p);
}

void write(OnnxNodeWriter& node, const SoftmaxOp& op) {
  node.integer("axis", op.flattened ? -1 : op.axis);
  if (!op.flattened) return;
  // Since opset 13, Softmax has only one axis. The dimensions are flattened before it and restored after it.
  OnnxWriter& file = node.file();
  const std::optional<Shape>& shape = file.shape(node.node().inputs[0]);
  if (!shape || std::ranges::count(*shape, -1) > 1) {
    throw bad_input("Softmax over several dimensions of a dynamic shape cannot be expressed in opset 13 or later");
  }
  const std::string& output = file.name(node.node().output);
  const std::string flat = file.fresh(output + ".flat"), flat_y = file.fresh(output + ".flat_y");
  onnx::NodeProto before;
  before.set_name(node.node().name + ".flatten");
  before.set_op_type("Flatten");
  before.add_input(file.form(node.node().inputs[0], Proto::FLOAT));
  before.add_output(flat);
  OnnxNodeWriter::attribute(before, "axis", onnx::AttributeProto::INT).set_i(op.axis);
  file.add(std::move(before));
  node.operand_as(flat);
  const Tensor sizes = Tensor::of<int64_t>({std::ssize(*shape)}, *shape);
  node.then("Reshape", flat_y).add_input(file.add_constant(output + ".shape", Proto::INT64, sizes));
}

void write(OnnxNodeWriter& node, const ReduceOp& op) {
  node.need_opset(21);
  node.integer("keepdims", op.keep_dims);
  if (!op.axes.empty()) node.integer_input("axes", op.axes);
}

void write(OnnxNodeWriter& node, const ArgReduceOp& op) {
  node.integer("axis", op.axis);
  node.integer("keepdims", op.keep_dims);
  if (op.last) node.integer("select_last_index", 1);
  node.gives(Proto::INT64);
}

void write(OnnxNodeWriter& node, const TopKOp& op) {
  node.integer("axis", op.axis);
  node.integer("largest", op.largest);
  node.integer("sorted", op.sorted);
  node.integer_input("k", {op.k});
  if (!op.indices) return node.unread_last_output("indices");
  node.unread_output("values");
  node.gives(Proto::INT64);
}

void write(OnnxNodeWriter& node, const CumSumOp& op) {
  if (op.exclusive) node.integer("exclusive", 1);
  if (op.reverse) node.integer("reverse", 1);
  node.single_integer_input("axis", op.axis);
}

void write(OnnxNodeWriter& node, const GemmOp& op) {
  node.real("alpha", op.alpha);
  node.real("beta", op.beta);
  node.integer("transA", op.transpose_a);
  node.integer("transB", op.transpose_b);
}

void write(OnnxNodeWriter&, const MatMulOp&) {}
void write(OnnxNodeWriter& node, const EinsumOp& op) { node.text("equation", op.equation); }

}  // namespace convlab
