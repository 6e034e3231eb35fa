// Matrix products in ONNX, for each opset.

#include <algorithm>

#include "convlab/model/onnx/ops/onnx_op.h"

namespace convlab {

template <>
struct OnnxOp<GemmOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(node.opset() < 11 ? 3 : 2, 3);
    return OnnxComputed{GemmOp{.alpha = node.real("alpha", 1),
                               .beta = node.real("beta", 1),
                               .transpose_a = node.flag("transA", false),
                               .transpose_b = node.flag("transB", false)},
                        node.input_count()};
  }
  static OnnxReaders readers() { return {{"Gemm", read}}; }
  static void write(OnnxNodeWriter& node, const GemmOp& op) {
    node.real("alpha", op.alpha);
    node.real("beta", op.beta);
    node.integer("transA", op.transpose_a);
    node.integer("transB", op.transpose_b);
  }
};

template <>
struct OnnxOp<MatMulOp> {
  static OnnxMeaning read(const OnnxNode& node) { return read_plain(node, 2, MatMulOp{}); }
  static OnnxReaders readers() { return {{"MatMul", read}}; }
  static void write(OnnxNodeWriter&, const MatMulOp&) {}
};

template <>
struct OnnxOp<EinsumOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    const size_t inputs = std::max<size_t>(node.input_count(), 1);
    return read_plain(node, inputs, EinsumOp{node.text("equation", "")});
  }
  static OnnxReaders readers() { return {{"Einsum", read}}; }
  static void write(OnnxNodeWriter& node, const EinsumOp& op) { node.text("equation", op.equation); }
};

template <>
std::vector<OnnxOpEntry> OnnxOpEntry::rows<ProductOps>() {
  return rows_of<OnnxOpEntry>(ProductOps());
}

}  // namespace convlab
