// Writes elementwise operators to ONNX.

#include "convlab/model/onnx/writing/onnx_writers.h"

namespace convlab {
namespace {

using Proto = onnx::TensorProto;

void cast_to(OnnxNodeWriter& node, OnnxWriter::Type type) {
  node.integer("to", type);
  node.gives(type);
}

}  // namespace

void write(OnnxNodeWriter& node, const ActivationOp& op) {
  const Activation& activation = op.activation;
  if (activation.kind == ActivationKind::leaky_relu) node.real("alpha", activation.alpha);
  if (activation.kind != ActivationKind::clip) return;
  node.real_input("min", activation.alpha);
  node.real_input("max", activation.beta);
}

void write(OnnxNodeWriter& node, const UnaryOp& op) {
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

void write(OnnxNodeWriter& node, const RoundOp& op) { cast_to(node, op.brain ? Proto::BFLOAT16 : Proto::FLOAT16); }

void write(OnnxNodeWriter&, const AddOp&) {}
void write(OnnxNodeWriter&, const MulOp&) {}

void write(OnnxNodeWriter& node, const BinaryOp& op) {
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

void write(OnnxNodeWriter& node, const WhereOp&) { node.operand(Proto::BOOL); }

}  // namespace convlab
