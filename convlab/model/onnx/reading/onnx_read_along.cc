// Readers of reductions, normalization and matrix products, for each opset.

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/onnx/reading/onnx_readers.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

constexpr int32_t kInt64 = onnx::TensorProto::INT64;

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
                      1, kInt64};
}

OnnxMeaning read_arg_max(const OnnxNode& node) { return read_arg(node, true); }
OnnxMeaning read_arg_min(const OnnxNode& node) { return read_arg(node, false); }

OnnxMeaning read_top_k(const OnnxNode& node) {
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
  recipe.give(recipe.add(op, {0}, kInt64));
  return recipe;
}

OnnxMeaning read_cum_sum(const OnnxNode& node) {
  node.check_inputs(2, 2);
  const std::vector<int64_t> axis = node.constant_integers(1, "axis");
  if (axis.size() != 1) throw bad_input("axis must have 1 element, got {}", axis.size());
  return OnnxComputed{
      CumSumOp{.axis = axis[0], .exclusive = node.flag("exclusive", false), .reverse = node.flag("reverse", false)}};
}

OnnxMeaning read_softmax(const OnnxNode& node, bool log) {
  node.check_inputs(1, 1);
  SoftmaxOp op{.axis = node.integer("axis", node.opset() < 13 ? 1 : -1), .log = log, .flattened = node.opset() < 13};
  // Over the last dimension alone, both meanings are the same.
  if (op.flattened && (op.axis == -1 || (node.input(0).rank && op.axis == *node.input(0).rank - 1))) {
    op.flattened = false;
  }
  return OnnxComputed{op};
}

OnnxMeaning read_plain_softmax(const OnnxNode& node) { return read_softmax(node, false); }
OnnxMeaning read_log_softmax(const OnnxNode& node) { return read_softmax(node, true); }

// ---- Normalization ----

/// In training mode, the mean and the variance are those of the batch. Only a batch of one is supported, such as
/// weights that a network standardizes.
OnnxMeaning read_batch_normalization(const OnnxNode& node) {
  node.check_inputs(5, 5);
  if (node.opset() < 9 && !node.flag("spatial", true)) throw bad_input("spatial = 0 is not supported");
  node.ignore("momentum");  // only used in training
  const float epsilon = node.real("epsilon", 1e-5f);
  const bool training = node.opset() >= 14 && node.flag("training_mode", false);
  if (!training) return OnnxComputed{BatchNormOp{.epsilon = epsilon}, 5};
  const OnnxValue& x = node.input(0);
  if (!x.shapes || node.rank(0) < 2 || !(node.size_along(0, 0).fixed() && node.size_along(0, 0).value() == 1)) {
    throw bad_input("training mode is not supported for batch sizes above 1");
  }
  return OnnxComputed{NormalizeOp{.groups = node.size_along(0, 1).value(), .epsilon = epsilon}, 3};
}

OnnxMeaning read_instance_normalization(const OnnxNode& node) {
  node.check_inputs(3, 3);
  const OnnxSize channels = node.size_along(1, 0);
  return OnnxComputed{NormalizeOp{.groups = channels.value(), .epsilon = node.real("epsilon", 1e-5f)}, 3};
}

/// Repeats a parameter of each group for each of its channels.
Tensor repeated(const Tensor& of_groups, int64_t channels) {
  const Tensor groups = converted(of_groups, ElementType::f32);
  const auto from = groups.values<float>();
  if (from.empty() || channels % std::ssize(from) != 0) {
    throw bad_input("the number of channels ({}) must be divisible by the number of groups ({})", channels,
                    from.size());
  }
  Tensor tensor(ElementType::f32, {channels});
  const std::span<float> to = tensor.values<float>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = from[i / (to.size() / from.size())];
  return tensor;
}

OnnxMeaning read_group_normalization(const OnnxNode& node) {
  node.check_inputs(3, 3);
  node.ignore("stash_type");  // sums have at least float32 precision
  const NormalizeOp op{.groups = node.integer("num_groups"), .epsilon = node.real("epsilon", 1e-5f)};
  if (node.opset() >= 21) return OnnxComputed{op, 3};
  const OnnxSize channels = node.size_along(0, 1);
  OnnxRecipe recipe(3);
  const OnnxRecipe::Value scale = recipe.constant(repeated(node.constant(1, "scale"), channels.value()));
  const OnnxRecipe::Value bias = recipe.constant(repeated(node.constant(2, "bias"), channels.value()));
  recipe.give(recipe.add(op, {0, scale, bias}));
  return recipe;
}

OnnxMeaning read_layer_normalization(const OnnxNode& node) {
  node.check_inputs(2, 3);
  node.ignore("stash_type");
  NormalizeOp op{.axis = node.integer("axis", -1), .epsilon = node.real("epsilon", 1e-5f)};
  OnnxRecipe recipe(node.input_count());
  std::vector<OnnxRecipe::Value> inputs{0, 1};
  if (node.has_input(2)) inputs.push_back(2);
  recipe.give(recipe.add(op, inputs));
  for (const NormalizePart part : {NormalizePart::mean, NormalizePart::inverse_deviation}) {
    if (!node.has_output(1) && !node.has_output(2)) break;
    op.part = part;
    recipe.give(recipe.add(op, {0}, onnx::TensorProto::FLOAT));
  }
  return recipe;
}

OnnxMeaning read_rms_normalization(const OnnxNode& node) {
  node.ignore("stash_type");
  return read_plain(
      node, 2, NormalizeOp{.axis = node.integer("axis", -1), .epsilon = node.real("epsilon", 1e-5f), .center = false});
}

OnnxMeaning read_lp_normalization(const OnnxNode& node) {
  return read_plain(node, 1, LpNormalizeOp{.axis = node.integer("axis", -1), .p = node.integer("p", 2)});
}

/// (x - mean) / (deviation + 1e-9), as in ONNX's function body.
OnnxMeaning read_mean_variance_normalization(const OnnxNode& node) {
  node.check_inputs(1, 1);
  std::vector<int64_t> axes = node.integers("axes");
  if (axes.empty()) axes = {0, 2, 3};
  constexpr float kEpsilon = 1e-9f;
  OnnxRecipe recipe(1);
  const ReduceOp mean{.kind = ReduceKind::mean, .axes = axes};
  const OnnxRecipe::Value centered = recipe.add(BinaryOp{BinaryKind::subtract}, {0, recipe.add(mean, {0})});
  const OnnxRecipe::Value variance = recipe.add(mean, {recipe.add(MulOp{}, {centered, centered})});
  const OnnxRecipe::Value deviation = recipe.add(UnaryOp{UnaryKind::sqrt}, {variance});
  recipe.give(recipe.add(BinaryOp{BinaryKind::divide},
                         {centered, recipe.add(AddOp{}, {deviation, recipe.constant(kEpsilon)})}));
  return recipe;
}

// ---- Matrix products ----

OnnxMeaning read_gemm(const OnnxNode& node) {
  node.check_inputs(node.opset() < 11 ? 3 : 2, 3);
  return OnnxComputed{GemmOp{.alpha = node.real("alpha", 1),
                             .beta = node.real("beta", 1),
                             .transpose_a = node.flag("transA", false),
                             .transpose_b = node.flag("transB", false)},
                      node.input_count()};
}

OnnxMeaning read_matmul(const OnnxNode& node) { return read_plain(node, 2, MatMulOp{}); }

OnnxMeaning read_einsum(const OnnxNode& node) {
  const size_t inputs = std::max<size_t>(node.input_count(), 1);
  return read_plain(node, inputs, EinsumOp{node.text("equation", "")});
}

constexpr OnnxEntry kAlongReaders[] = {
    {"ArgMax", read_arg_max},
    {"ArgMin", read_arg_min},
    {"BatchNormalization", read_batch_normalization},
    {"CumSum", read_cum_sum},
    {"Einsum", read_einsum},
    {"Gemm", read_gemm},
    {"GroupNormalization", read_group_normalization},
    {"InstanceNormalization", read_instance_normalization},
    {"LayerNormalization", read_layer_normalization},
    {"LogSoftmax", read_log_softmax},
    {"LpNormalization", read_lp_normalization},
    {"MatMul", read_matmul},
    {"MeanVarianceNormalization", read_mean_variance_normalization},
    {"RMSNormalization", read_rms_normalization},
    {"ReduceL1", read_reduce<ReduceKind::l1>},
    {"ReduceL2", read_reduce<ReduceKind::l2>},
    {"ReduceLogSum", read_reduce<ReduceKind::log_sum>},
    {"ReduceLogSumExp", read_reduce<ReduceKind::log_sum_exp>},
    {"ReduceMax", read_reduce<ReduceKind::max>},
    {"ReduceMean", read_reduce<ReduceKind::mean>},
    {"ReduceMin", read_reduce<ReduceKind::min>},
    {"ReduceProd", read_reduce<ReduceKind::prod>},
    {"ReduceSum", read_reduce<ReduceKind::sum>},
    {"ReduceSumSquare", read_reduce<ReduceKind::sum_square>},
    {"Softmax", read_plain_softmax},
    {"TopK", read_top_k},
};

}  // namespace

std::span<const OnnxEntry> onnx_along_readers() { return kAlongReaders; }

}  // namespace convlab
