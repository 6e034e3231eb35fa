// Normalization and softmax in ONNX, for each opset.

#include <algorithm>
#include <span>

#include "convlab/base/error.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/ops/onnx_op.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

using Proto = onnx::TensorProto;

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

template <>
struct OnnxOp<BatchNormOp> {
  /// In training mode, the mean and the variance are those of the batch. Only a batch of one is supported, such as
  /// weights that a network standardizes.
  static OnnxMeaning read(const OnnxNode& node) {
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
  static OnnxReaders readers() { return {{"BatchNormalization", read}}; }
  static void write(OnnxNodeWriter& node, const BatchNormOp& op) { node.real("epsilon", op.epsilon); }
};

template <>
struct OnnxOp<NormalizeOp> {
  static OnnxReaders readers() {
    return {{"GroupNormalization", read_group_normalization},
            {"InstanceNormalization", read_instance_normalization},
            {"LayerNormalization", read_layer_normalization},
            {"MeanVarianceNormalization", read_mean_variance_normalization},
            {"RMSNormalization", read_rms_normalization}};
  }
  static void write(OnnxNodeWriter& node, const NormalizeOp& op) {
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
};

template <>
struct OnnxOp<LpNormalizeOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    return read_plain(node, 1, LpNormalizeOp{.axis = node.integer("axis", -1), .p = node.integer("p", 2)});
  }
  static OnnxReaders readers() { return {{"LpNormalization", read}}; }
  static void write(OnnxNodeWriter& node, const LpNormalizeOp& op) {
    node.integer("axis", op.axis);
    node.integer("p", op.p);
  }
};

template <>
struct OnnxOp<LrnOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    return read_plain(node, 1,
                      LrnOp{.alpha = node.real("alpha", 1e-4f),
                            .beta = node.real("beta", 0.75f),
                            .bias = node.real("bias", 1),
                            .size = node.integer("size")});
  }
  static OnnxReaders readers() { return {{"LRN", read}}; }
  static void write(OnnxNodeWriter& node, const LrnOp& op) {
    node.real("alpha", op.alpha);
    node.real("beta", op.beta);
    node.real("bias", op.bias);
    node.integer("size", op.size);
  }
};

template <>
struct OnnxOp<SoftmaxOp> {
  static OnnxReaders readers() { return {{"LogSoftmax", read_log_softmax}, {"Softmax", read_plain_softmax}}; }
  static void write(OnnxNodeWriter& node, const SoftmaxOp& op) {
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
};

template <>
std::vector<OnnxOpEntry> OnnxOpEntry::rows<NormalizationOps>() {
  return rows_of<OnnxOpEntry>(NormalizationOps());
}

}  // namespace convlab
