// Recognizes affine operators and counts their multiply-adds.

#include "convlab/rewrite/linear.h"

#include <algorithm>

#include "convlab/model/shapes.h"
#include "convlab/rewrite/evaluate.h"

namespace convlab {
namespace {

/// Whether a constant, broadcast to `rank` dimensions, is the same for every image.
bool same_for_all_images(const Tensor& constant, size_t rank) {
  return constant.shape().size() < rank || constant.shape()[0] == 1;
}

/// Whether the operator, whose shapes are valid, is affine in the elements of each image separately.
bool is_affine(const Op& op, const LinearOp& step) {
  if (std::holds_alternative<ConvOp>(op) || std::holds_alternative<BatchNormOp>(op) ||
      std::holds_alternative<GlobalAveragePoolOp>(op) || only_reshapes(op)) {
    return true;
  }
  if (const auto* pool = std::get_if<PoolOp>(&op)) return pool->pool.kind == PoolKind::average;
  if (std::holds_alternative<AddOp>(op) || std::holds_alternative<MulOp>(op)) {
    const Tensor& constant = *step.given[step.given[0] == nullptr ? 1 : 0];
    return step.x == step.y && same_for_all_images(constant, step.y.size());
  }
  if (const auto* gemm = std::get_if<GemmOp>(&op)) {
    return step.given[0] == nullptr && !gemm->transpose_a &&
           (step.given.size() < 3 || same_for_all_images(*step.given[2], 2));
  }
  if (std::holds_alternative<MatMulOp>(op)) {
    return step.given[0] == nullptr && step.x.size() == 2 && step.given[1]->shape().size() == 2;
  }
  if (const auto* pad = std::get_if<PadOp>(&op)) {
    return pad->mode == PadMode::constant && pad->pads[0] == 0 && pad->pads[step.x.size()] == 0;
  }
  const auto* transpose = std::get_if<TransposeOp>(&op);
  return transpose != nullptr && !transpose->permutation.empty() && transpose->permutation[0] == 0;
}

}  // namespace

std::optional<LinearOp> linear_op(const Graph& graph, const Node& node, const std::vector<Shape>& shapes) {
  LinearOp step{.node = &node, .y = shapes[static_cast<size_t>(node.output)]};
  for (ValueId input : node.inputs) {
    const auto constant = graph.constants.find(input);
    step.given.push_back(constant == graph.constants.end() ? nullptr : &constant->second);
    if (step.given.back() != nullptr) continue;
    if (step.from != -1) return std::nullopt;
    step.from = input;
  }
  if (step.from == -1) return std::nullopt;
  step.x = shapes[static_cast<size_t>(step.from)];
  const bool by_image = step.x.size() >= 2 && step.y.size() >= 2 && step.x[0] == step.y[0];
  if (!by_image || !is_affine(node.op, step)) return std::nullopt;
  return step;
}

double multiply_adds(const LinearOp& step) {
  const auto outputs = static_cast<double>(image_element_count(step.y));
  const Op& op = step.node->op;
  if (std::holds_alternative<ConvOp>(op)) {
    const int64_t terms = step.given[1]->count() / step.given[1]->shape()[0];
    return outputs * static_cast<double>(terms);
  }
  if (const auto* pool = std::get_if<PoolOp>(&op)) {
    return outputs * static_cast<double>(pool->pool.kernel_h * pool->pool.kernel_w);
  }
  if (std::holds_alternative<GemmOp>(op) || std::holds_alternative<MatMulOp>(op)) {
    return static_cast<double>(step.given[1]->count());
  }
  if (std::holds_alternative<GlobalAveragePoolOp>(op)) return static_cast<double>(image_element_count(step.x));
  return only_reshapes(op) ? 0 : outputs;
}

}  // namespace convlab
