// Tests each ONNX operator in each form of opsets 7 to 21, and unsupported forms.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "convlab/base/half.h"
#include "convlab/model/onnx/reading/onnx_import.h"
#include "tests/model/op_text.h"
#include "tests/support/onnx_model.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;

/// Imports a model from "x" to "y".
Graph import(OnnxModel model, const Shape& input = {-1, 3, 8, 8}, int type = OnnxModel::kFloat) {
  model.input("x", input, type).output("y");
  return import_onnx(model.bytes(), "test.onnx");
}

std::string refusal(OnnxModel model, const Shape& input = {-1, 3, 8, 8}, int type = OnnxModel::kFloat) {
  return bad_input_message([&] { import(std::move(model), input, type); });
}

/// A model with one node, x -> y.
OnnxModel unary(int64_t opset, const std::string& op) { return std::move(OnnxModel(opset).node(op, {"x"}, {"y"})); }

OnnxModel conv(const Shape& w) {
  return std::move(OnnxModel(13).initializer("w", OnnxModel::ones(w)).node("Conv", {"x", "w"}, {"y"}));
}

TEST(OnnxConv, ReadsEveryAttribute) {
  const ConvOp plain = only<ConvOp>(import(conv({4, 3, 3, 3})));
  EXPECT_EQ(plain.stride_h, 1);
  EXPECT_EQ(plain.dilation_w, 1);
  EXPECT_EQ(plain.pad_top, 0);
  EXPECT_EQ(plain.groups, 1);
  EXPECT_EQ(plain.auto_pad, AutoPad::explicit_pads);

  const Graph graph = import(conv({6, 1, 3, 2})
                                 .list("strides", {2, 3})
                                 .list("dilations", {4, 5})
                                 .list("pads", {1, 2, 3, 4})
                                 .set("group", int64_t{3})
                                 .list("kernel_shape", {3, 2}));
  const ConvOp op = only<ConvOp>(graph);
  EXPECT_EQ(op.stride_h, 2);
  EXPECT_EQ(op.stride_w, 3);
  EXPECT_EQ(op.dilation_h, 4);
  EXPECT_EQ(op.dilation_w, 5);
  EXPECT_EQ(op.pad_top, 1);
  EXPECT_EQ(op.pad_left, 2);
  EXPECT_EQ(op.pad_bottom, 3);
  EXPECT_EQ(op.pad_right, 4);
  EXPECT_EQ(op.groups, 3);
  EXPECT_EQ(only<ConvOp>(import(conv({4, 3, 3, 3}).set("auto_pad", "SAME_UPPER"))).auto_pad, AutoPad::same_upper);
  EXPECT_EQ(only<ConvOp>(import(conv({4, 3, 3, 3}).set("auto_pad", "SAME_LOWER"))).auto_pad, AutoPad::same_lower);
  EXPECT_EQ(only<ConvOp>(import(conv({4, 3, 3, 3}).set("auto_pad", "VALID"))).auto_pad, AutoPad::valid);
  EXPECT_EQ(only<ConvOp>(import(conv({4, 3, 3, 3}).set("auto_pad", "NOTSET"))).auto_pad, AutoPad::explicit_pads);
}

TEST(OnnxConv, BiasMayBeThereOrNamelessOrAbsent) {
  OnnxModel model(13);
  model.initializer("w", OnnxModel::ones({4, 3, 3, 3})).initializer("b", OnnxModel::ones({4}));
  OnnxModel with = model, nameless = model;
  EXPECT_EQ(import(with.node("Conv", {"x", "w", "b"}, {"y"})).nodes[0].inputs.size(), 3u);
  EXPECT_EQ(import(nameless.node("Conv", {"x", "w", ""}, {"y"})).nodes[0].inputs.size(), 2u);
}

TEST(OnnxConv, Refuses) {
  EXPECT_EQ(import(conv({4, 3, 3}), {-1, 3, 8}).nodes.size(), 3u) << "between Unsqueeze and Squeeze";
  EXPECT_THAT(refusal(conv({4, 3, 3, 3, 3}), {-1, 3, 8, 8, 8}), HasSubstr("has 3 dimensions"));
  EXPECT_THAT(refusal(conv({4, 3, 3, 3}).list("strides", {2})),
              HasSubstr("'strides' must have 2 values (1 per window dimension), got 1"));
  EXPECT_THAT(refusal(conv({4, 3, 3, 3}).list("pads", {1, 1})),
              HasSubstr("'pads' must have 4 values (2 per window dimension), got 2"));
  EXPECT_THAT(refusal(conv({4, 3, 3, 3}).set("auto_pad", "SAME")), HasSubstr("got 'SAME'"));
  EXPECT_THAT(refusal(conv({4, 3, 3, 3}).list("kernel_shape", {3, 5})), HasSubstr("'kernel_shape' (3x5)"));
  EXPECT_THAT(refusal(conv({4, 3, 3, 3}).set("group", 1.0f)), HasSubstr("'group' must be an integer"));
  EXPECT_THAT(refusal(conv({4, 3, 3, 3}).set("activation", "Relu")), HasSubstr("'activation' is unknown"));
  const Graph computed = import(OnnxModel(13).node("Conv", {"x", "x"}, {"y"}));
  EXPECT_THAT(bad_input_message([&] { infer_shapes(computed, Shape{3, 3, 8, 8}); }), HasSubstr("must be a constant"));
  EXPECT_THAT(refusal(OnnxModel(13).node("Conv", {"x"}, {"y"})), HasSubstr("input 1 is missing"));
  EXPECT_THAT(
      refusal(OnnxModel(13).initializer("w", OnnxModel::ones({4, 3, 3, 3})).node("Conv", {"x", "w", "w", "w"}, {"y"})),
      HasSubstr("expected at most 3, got"));
}

TEST(OnnxEinsum, WithoutOperandsIsRefused) {
  OnnxModel model(13);
  EXPECT_THAT(refusal(model.node("Einsum", {}, {"y"}).set("equation", "ij->i")), HasSubstr("input 0 is missing"));
}

TEST(OnnxPool, ReadsEveryAttribute) {
  const PoolOp op = only<PoolOp>(import(unary(12, "MaxPool")
                                            .list("kernel_shape", {3, 2})
                                            .list("strides", {2, 1})
                                            .list("pads", {1, 0, 2, 1})
                                            .list("dilations", {1, 2})
                                            .set("ceil_mode", int64_t{1})
                                            .set("storage_order", int64_t{1})));
  EXPECT_EQ(op.pool, (Pool{.kind = PoolKind::max,
                           .kernel_h = 3,
                           .kernel_w = 2,
                           .stride_h = 2,
                           .stride_w = 1,
                           .dilation_h = 1,
                           .dilation_w = 2,
                           .pad_top = 1,
                           .pad_left = 0,
                           .pad_bottom = 2,
                           .pad_right = 1,
                           .ceil_mode = true}));
  const PoolOp average = only<PoolOp>(import(unary(19, "AveragePool")
                                                 .list("kernel_shape", {3, 3})
                                                 .list("dilations", {2, 1})
                                                 .set("auto_pad", "SAME_LOWER")
                                                 .set("count_include_pad", int64_t{1})));
  EXPECT_EQ(average.pool.kind, PoolKind::average);
  EXPECT_EQ(average.pool.dilation_h, 2);
  EXPECT_TRUE(average.pool.count_include_pad);
  EXPECT_FALSE(average.pool.ceil_mode);
  EXPECT_EQ(average.auto_pad, AutoPad::same_lower);
}

TEST(OnnxPool, RefusesAttributesBeforeTheirOpset) {
  const auto window = [](int64_t opset, const char* op) { return unary(opset, op).list("kernel_shape", {2, 2}); };
  EXPECT_EQ(import(window(7, "MaxPool")).nodes.size(), 1u);
  EXPECT_THAT(refusal(window(9, "MaxPool").set("ceil_mode", int64_t{1})), HasSubstr("'ceil_mode' is unknown"));
  EXPECT_THAT(refusal(window(9, "MaxPool").list("dilations", {2, 2})), HasSubstr("'dilations' is unknown"));
  EXPECT_THAT(refusal(window(18, "AveragePool").list("dilations", {2, 2})), HasSubstr("'dilations' is unknown"));
  EXPECT_THAT(refusal(unary(13, "MaxPool")), HasSubstr("'kernel_shape' is missing"));
  EXPECT_THAT(refusal(window(13, "MaxPool").set("ceil_mode", int64_t{2})), HasSubstr("must be 0 or 1"));
  EXPECT_THAT(refusal(window(13, "MaxPool").list("strides", {2})), HasSubstr("must have 2 values"));
  EXPECT_THAT(refusal(unary(13, "MaxPool").list("kernel_shape", {2, 2, 2})), HasSubstr("has 3 dimensions"));
}

TEST(OnnxPool, IndicesAreComputedWhereTheyAreUsed) {
  OnnxModel unused(13), used(13);
  unused.node("MaxPool", {"x"}, {"y", "indices"}).list("kernel_shape", {2, 2});
  EXPECT_EQ(import(unused).nodes.size(), 1u);
  used.node("MaxPool", {"x"}, {"z", "indices"}).list("kernel_shape", {2, 2}).node("Relu", {"indices"}, {"y"});
  const Graph graph = import(used);
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(std::get<MaxPoolIndicesOp>(graph.nodes[0].op).pool.kernel_h, 2);
}

TEST(OnnxActivation, PlainOnes) {
  EXPECT_EQ(only<ActivationOp>(import(unary(7, "Relu"))).activation.kind, ActivationKind::relu);
  EXPECT_EQ(only<ActivationOp>(import(unary(21, "Sigmoid"))).activation.kind, ActivationKind::sigmoid);
  EXPECT_EQ(only<ActivationOp>(import(unary(13, "Tanh"))).activation.kind, ActivationKind::tanh);
  only<GlobalAveragePoolOp>(import(unary(13, "GlobalAveragePool")));
  const Activation leaky = only<ActivationOp>(import(unary(13, "LeakyRelu"))).activation;
  EXPECT_EQ(leaky, (Activation{ActivationKind::leaky_relu, 0.01f}));
  EXPECT_EQ(only<ActivationOp>(import(unary(13, "LeakyRelu").set("alpha", 0.5f))).activation.alpha, 0.5f);
  EXPECT_THAT(refusal(unary(13, "LeakyRelu").set("alpha", std::numeric_limits<float>::quiet_NaN())), HasSubstr("NaN"));
}

TEST(OnnxActivation, ClipTakesAttributesAndSinceOpset11Inputs) {
  constexpr float kLowest = std::numeric_limits<float>::lowest(), kMost = std::numeric_limits<float>::max();
  const auto clip = [](OnnxModel model) { return only<ActivationOp>(import(std::move(model))).activation; };
  EXPECT_EQ(clip(unary(10, "Clip")), (Activation{ActivationKind::clip, kLowest, kMost}));
  EXPECT_EQ(clip(unary(7, "Clip").set("min", -1.0f).set("max", 6.0f)), (Activation{ActivationKind::clip, -1, 6}));
  EXPECT_EQ(clip(unary(11, "Clip")), (Activation{ActivationKind::clip, kLowest, kMost}));
  OnnxModel limits(13);
  limits.initializer("low", OnnxModel::floats({}, {-1}));
  limits.node("Constant", {}, {"high"}).set("value_float", 6.0f);
  OnnxModel both = limits, high = limits, computed = limits, wide = limits, integer = limits;
  EXPECT_EQ(clip(both.node("Clip", {"x", "low", "high"}, {"y"})), (Activation{ActivationKind::clip, -1, 6}));
  EXPECT_EQ(clip(high.node("Clip", {"x", "", "high"}, {"y"})), (Activation{ActivationKind::clip, kLowest, 6}));
  EXPECT_EQ(only<BinaryOp>(import(computed.node("Clip", {"x", "x"}, {"y"}))).kind, BinaryKind::maximum);
  wide.initializer("two", OnnxModel::ones({2})).node("Clip", {"x", "two"}, {"y"});
  EXPECT_THAT(refusal(wide), HasSubstr("must be one number, got shape"));
  integer.initializer("i", OnnxModel::integers({}, {1})).node("Clip", {"x", "i"}, {"y"});
  EXPECT_THAT(refusal(integer), HasSubstr("int64"));
  EXPECT_THAT(refusal(unary(11, "Clip").set("max", 6.0f)), HasSubstr("'max' is unknown"));
  EXPECT_THAT(refusal(OnnxModel(10).node("Clip", {"x", "x"}, {"y"})), HasSubstr("expected at most 1, got"));
}

OnnxModel batch_normalization(int64_t opset, const std::vector<std::string>& outputs = {"y"}) {
  OnnxModel model(opset);
  for (const char* name : {"scale", "shift", "mean", "variance"}) model.initializer(name, OnnxModel::ones({3}));
  return std::move(model.node("BatchNormalization", {"x", "scale", "shift", "mean", "variance"}, outputs));
}

TEST(OnnxBatchNormalization, IsReadForInference) {
  EXPECT_FLOAT_EQ(only<BatchNormOp>(import(batch_normalization(7))).epsilon, 1e-5f);
  EXPECT_FLOAT_EQ(
      only<BatchNormOp>(import(batch_normalization(15).set("epsilon", 1e-3f).set("momentum", 0.9f))).epsilon, 1e-3f);
  EXPECT_EQ(import(batch_normalization(7).set("spatial", int64_t{1})).nodes[0].inputs.size(), 5u);
  EXPECT_EQ(import(batch_normalization(9, {"y", "", "", "", ""})).nodes.size(), 1u);
  EXPECT_THAT(refusal(batch_normalization(7).set("spatial", int64_t{0})), HasSubstr("spatial = 0"));
  EXPECT_THAT(refusal(batch_normalization(9).set("spatial", int64_t{1})), HasSubstr("'spatial' is unknown"));
  const OnnxModel training = batch_normalization(14).set("training_mode", int64_t{1});
  EXPECT_THAT(refusal(training), HasSubstr("training mode"));
  const Graph standardized = import(training, {1, 3, 8});
  EXPECT_EQ(only<NormalizeOp>(standardized).groups, 3);
  EXPECT_EQ(standardized.nodes[0].inputs.size(), 3u);
  EXPECT_THAT(refusal(training, {2, 3, 8}), HasSubstr("for batch sizes above 1"));
  OnnxModel computed = batch_normalization(9);
  computed.graph().mutable_node(0)->set_input(3, "x");
  EXPECT_THAT(bad_input_message([&] {
                infer_shapes(import(computed), Shape{1, 3, 8, 8});
              }),
              HasSubstr("must be a constant"));
}

TEST(OnnxProducts, GemmMatMulAddMul) {
  OnnxModel model(13);
  model.initializer("b", OnnxModel::ones({4, 5})).initializer("c", OnnxModel::ones({5}));
  OnnxModel full = model, bare = model, old = model, matmul = model, add = model;
  full.node("Gemm", {"x", "b", "c"}, {"y"}).set("alpha", 2.0f).set("beta", 0.5f);
  full.set("transA", int64_t{1}).set("transB", int64_t{1});
  const GemmOp op = only<GemmOp>(import(full, {4, 4}));
  EXPECT_EQ(op.alpha, 2);
  EXPECT_EQ(op.beta, 0.5f);
  EXPECT_TRUE(op.transpose_a);
  EXPECT_TRUE(op.transpose_b);
  const Graph graph = import(bare.node("Gemm", {"x", "b"}, {"y"}), {-1, 4});
  EXPECT_EQ(only<GemmOp>(graph).alpha, 1);
  EXPECT_EQ(graph.nodes[0].inputs.size(), 2u);
  old.proto.mutable_opset_import(0)->set_version(9);
  EXPECT_THAT(refusal(old.node("Gemm", {"x", "b"}, {"y"}), {-1, 4}), HasSubstr("input 2 is missing"));
  only<MatMulOp>(import(matmul.node("MatMul", {"x", "b"}, {"y"}), {-1, 4}));
  only<AddOp>(import(add.node("Add", {"c", "x"}, {"y"}), {-1, 5}));
  only<MulOp>(import(OnnxModel(7).node("Mul", {"x", "x"}, {"y"})));
  EXPECT_THAT(refusal(OnnxModel(13).node("Add", {"x"}, {"y"})), HasSubstr("input 1 is missing"));
  EXPECT_THAT(refusal(OnnxModel(6).node("Add", {"x", "x"}, {"y"})),
              HasSubstr("opset version must be between 7 and 26, got 6"));
}

TEST(OnnxRearrangement, ConcatFlattenTranspose) {
  EXPECT_EQ(only<ConcatOp>(import(OnnxModel(13).node("Concat", {"x", "x"}, {"y"}).set("axis", int64_t{-3}))).axis, -3);
  EXPECT_THAT(refusal(OnnxModel(13).node("Concat", {"x", "x"}, {"y"})), HasSubstr("'axis' is missing"));
  EXPECT_THAT(refusal(OnnxModel(13).node("Concat", {"x", "", "x"}, {"y"}).set("axis", int64_t{0})),
              HasSubstr("input 1 is missing"));
  EXPECT_THAT(refusal(OnnxModel(13).node("Concat", {}, {"y"}).set("axis", int64_t{0})), HasSubstr("missing"));
  EXPECT_EQ(only<FlattenOp>(import(unary(13, "Flatten"))).axis, 1);
  EXPECT_EQ(only<FlattenOp>(import(unary(13, "Flatten").set("axis", int64_t{-1}))).axis, -1);
  EXPECT_TRUE(only<TransposeOp>(import(unary(13, "Transpose"))).permutation.empty());
  EXPECT_THAT(only<TransposeOp>(import(unary(13, "Transpose").list("perm", {0, 2, 3, 1}))).permutation,
              ElementsAre(0, 2, 3, 1));
}

TEST(OnnxRearrangement, ReshapeTakesAConstantShape) {
  OnnxModel model(13);
  model.initializer("s", OnnxModel::integers({2}, {0, -1}));
  EXPECT_EQ(only<ReshapeOp>(import(model.node("Reshape", {"x", "s"}, {"y"}))).shape, (Shape{0, -1}));
  OnnxModel zero(14);
  zero.initializer("s", OnnxModel::integers({2}, {0, 5})).node("Reshape", {"x", "s"}, {"y"});
  zero.set("allowzero", int64_t{1});
  EXPECT_THAT(refusal(zero), HasSubstr("has no elements"));
  EXPECT_THAT(refusal(OnnxModel(13).node("Reshape", {"x", "x"}, {"y"})), HasSubstr("shape ('x') must be constant"));
  OnnxModel floats(13), matrix(13);
  floats.initializer("s", OnnxModel::ones({2})).node("Reshape", {"x", "s"}, {"y"});
  EXPECT_THAT(refusal(floats), HasSubstr("shape must be int64 or int32, got"));
  matrix.initializer("s", OnnxModel::integers({1, 2}, {0, -1})).node("Reshape", {"x", "s"}, {"y"});
  EXPECT_THAT(refusal(matrix), HasSubstr("at most one dimension"));
  OnnxModel old(13);
  old.initializer("s", OnnxModel::integers({2}, {0, -1})).node("Reshape", {"x", "s"}, {"y"});
  EXPECT_THAT(refusal(old.set("allowzero", int64_t{0})), HasSubstr("'allowzero' is unknown"));
}

TEST(OnnxRearrangement, SqueezeAndUnsqueezeTakeAxesAsAttributeOrInput) {
  EXPECT_THAT(only<SqueezeOp>(import(unary(12, "Squeeze").list("axes", {2, 3}))).axes, ElementsAre(2, 3));
  EXPECT_TRUE(only<SqueezeOp>(import(unary(13, "Squeeze"))).axes.empty());
  EXPECT_THAT(only<UnsqueezeOp>(import(unary(7, "Unsqueeze").list("axes", {0}))).axes, ElementsAre(0));
  OnnxModel model(13);
  model.initializer("axes", OnnxModel::integers({2}, {2, 3}));
  OnnxModel squeeze = model, unsqueeze = model;
  EXPECT_THAT(only<SqueezeOp>(import(squeeze.node("Squeeze", {"x", "axes"}, {"y"}))).axes, ElementsAre(2, 3));
  EXPECT_THAT(only<UnsqueezeOp>(import(unsqueeze.node("Unsqueeze", {"x", "axes"}, {"y"}))).axes, ElementsAre(2, 3));
  EXPECT_THAT(refusal(unary(13, "Unsqueeze")), HasSubstr("axes are missing"));
  EXPECT_THAT(refusal(unary(11, "Unsqueeze")), HasSubstr("axes are missing"));
  EXPECT_THAT(refusal(unary(13, "Squeeze").list("axes", {2})), HasSubstr("'axes' is unknown"));
  EXPECT_THAT(refusal(OnnxModel(12).node("Squeeze", {"x", "x"}, {"y"})), HasSubstr("expected at most 1, got"));
}

TEST(OnnxSoftmax, MeansAllFurtherDimensionsBeforeOpset13) {
  const SoftmaxOp old = only<SoftmaxOp>(import(unary(12, "Softmax")));
  EXPECT_EQ(old.axis, 1);
  EXPECT_TRUE(old.flattened);
  EXPECT_FALSE(old.log);
  EXPECT_FALSE(only<SoftmaxOp>(import(unary(12, "Softmax"), {-1, 10})).flattened) << "one meaning over the last axis";
  const SoftmaxOp now = only<SoftmaxOp>(import(unary(13, "LogSoftmax")));
  EXPECT_EQ(now.axis, -1);
  EXPECT_FALSE(now.flattened);
  EXPECT_TRUE(now.log);
  EXPECT_EQ(only<SoftmaxOp>(import(unary(13, "Softmax").set("axis", int64_t{2}))).axis, 2);
}

TEST(OnnxPassing, IdentityAndDropoutDisappear) {
  OnnxModel model(13);
  model.node("Identity", {"x"}, {"a"}).node("Dropout", {"a"}, {"b", "mask"}).node("Relu", {"b"}, {"c"});
  model.node("Identity", {"c"}, {"y"});
  const Graph graph = import(model);
  only<ActivationOp>(graph);
  EXPECT_EQ(graph.nodes[0].inputs[0], graph.inputs[0].value);
  EXPECT_EQ(graph.nodes[0].output, graph.outputs[0].value);
}

TEST(OnnxPassing, DropoutHasRatioAndModeAsItsOpsetSays) {
  const auto then_relu = [](OnnxModel model) { return std::move(model.node("Relu", {"d"}, {"y"})); };
  EXPECT_EQ(import(then_relu(OnnxModel(10).node("Dropout", {"x"}, {"d"}).set("ratio", 0.3f))).nodes.size(), 1u);
  EXPECT_EQ(import(then_relu(OnnxModel(13).node("Dropout", {"x"}, {"d"}).set("seed", int64_t{1}))).nodes.size(), 1u);
  for (const uint8_t mode : {0, 1}) {
    OnnxModel model(12);
    model.initializer("ratio", OnnxModel::floats({}, {0.5f}));
    model.initializer("mode", OnnxModel::raw<uint8_t>({}, onnx::TensorProto::BOOL, {mode}));
    model.node("Dropout", {"x", "ratio", "mode"}, {"d"}).node("Relu", {"d"}, {"y"});
    if (mode == 0) {
      EXPECT_EQ(import(model).nodes.size(), 1u);
    } else {
      EXPECT_THAT(refusal(model), HasSubstr("training mode is not supported"));
    }
  }
  OnnxModel empty(12);
  empty.initializer("mode", OnnxModel::raw<uint8_t>({0}, onnx::TensorProto::BOOL, {}));
  empty.node("Dropout", {"x", "", "mode"}, {"d"}).node("Relu", {"d"}, {"y"});
  EXPECT_THAT(refusal(empty), HasSubstr("training_mode must be one bool"));
  OnnxModel mask(13);
  mask.node("Dropout", {"x"}, {"d", "mask"}).node("Relu", {"mask"}, {"y"});
  EXPECT_THAT(refusal(mask), HasSubstr("'mask', an additional output"));
}

/// x + Constant
Graph with_constant(OnnxModel model) {
  model.node("Add", {"x", "c"}, {"y"});
  return import(std::move(model), {-1, 2});
}

std::vector<float> constant_of(const Graph& graph) {
  EXPECT_EQ(graph.constants.size(), 1u);
  const auto values = graph.constants.begin()->second.values<float>();
  return {values.begin(), values.end()};
}

TEST(OnnxConstant, TakesEveryFormOfNumbers) {
  const auto constant = [] { return std::move(OnnxModel(13).node("Constant", {}, {"c"})); };
  EXPECT_THAT(constant_of(with_constant(constant().set("value", OnnxModel::floats({2}, {1, 2})))), ElementsAre(1, 2));
  EXPECT_THAT(constant_of(with_constant(constant().set("value_float", 3.0f))), ElementsAre(3));
  EXPECT_THAT(constant_of(with_constant(constant().reals("value_floats", {1, 2}))), ElementsAre(1, 2));
  const auto reshape = [&](OnnxModel model) {
    return only<ReshapeOp>(import(std::move(model.node("Reshape", {"x", "c"}, {"y"})))).shape;
  };
  EXPECT_EQ(reshape(constant().set("value_int", int64_t{-1})), Shape{-1});
  EXPECT_EQ(reshape(constant().list("value_ints", {0, -1})), (Shape{0, -1}));
  EXPECT_EQ(reshape(constant().set("value", OnnxModel::integers({2}, {0, -1}))), (Shape{0, -1}));
}

TEST(OnnxConstant, Refuses) {
  const auto constant = [] { return std::move(OnnxModel(13).node("Constant", {}, {"c"})); };
  const auto why = [](OnnxModel model) { return bad_input_message([&] { with_constant(std::move(model)); }); };
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(why(constant()), HasSubstr("no supported value attribute"));
  EXPECT_THAT(why(constant().set("value_string", "a")), HasSubstr("no supported value attribute"));
  EXPECT_THAT(why(constant().set("value_float", kNaN)), HasSubstr("NaN"));
  EXPECT_THAT(why(constant().reals("value_floats", {0, kNaN})), HasSubstr("NaN"));
  EXPECT_THAT(why(constant().set("value", OnnxModel::floats({1}, {kNaN}))),
              HasSubstr("weights contain NaN (element 0)"));
  EXPECT_THAT(why(constant().set("value", int64_t{1})), HasSubstr("'value' must be a tensor"));
  EXPECT_THAT(why(constant().set("value_float", 1.0f).set("value_int", int64_t{1})),
              HasSubstr("'value_int' is unknown or not supported"));
}

TEST(OnnxCast, OfConstantsIsDone) {
  const std::vector<uint16_t> halves = {float_to_half(1.5f), float_to_half(-2.0f)};
  const auto cast = [](onnx::TensorProto tensor, int to) {
    OnnxModel model(13);
    model.initializer("w", std::move(tensor));
    return std::move(model.node("Cast", {"w"}, {"c"}).set("to", static_cast<int64_t>(to)));
  };
  using Proto = onnx::TensorProto;
  EXPECT_THAT(constant_of(with_constant(cast(OnnxModel::raw({2}, Proto::FLOAT16, halves), Proto::FLOAT))),
              ElementsAre(1.5f, -2));
  const std::vector<double> doubles = {0.1, 3};
  EXPECT_THAT(constant_of(with_constant(cast(OnnxModel::raw({2}, Proto::DOUBLE, doubles), Proto::FLOAT))),
              ElementsAre(FloatEq(0.1f), 3));
  EXPECT_THAT(constant_of(with_constant(cast(OnnxModel::integers({2}, {7, -8}), Proto::FLOAT))), ElementsAre(7, -8));
  const auto why = [&](onnx::TensorProto tensor, int to) {
    return bad_input_message([&] { with_constant(cast(std::move(tensor), to)); });
  };
  const std::vector<float> reals = {1.00390625f, 1.01171875f};  // halfway between two bf16 values: rounds to even
  OnnxModel brain = cast(OnnxModel::floats({2}, reals), Proto::BFLOAT16);
  brain.graph().mutable_node(0)->set_output(0, "b");
  brain.node("Cast", {"b"}, {"c"}).set("to", static_cast<int64_t>(Proto::FLOAT));
  EXPECT_THAT(constant_of(with_constant(brain)), ElementsAre(1, 1.015625f));
  EXPECT_THAT(why(OnnxModel::ones({2}), 99), HasSubstr("number 99"));
  EXPECT_THAT(why(OnnxModel::ones({2}), Proto::DOUBLE), HasSubstr("float64")) << "Add of float32 and float64";
}

TEST(OnnxCast, OfValuesRoundsToFloat16AndElseChangesNothing) {
  using Proto = onnx::TensorProto;
  const auto cast = [](int to) {
    OnnxModel model(13);
    return std::move(model.node("Cast", {"x"}, {"h"}).set("to", static_cast<int64_t>(to)).node("Relu", {"h"}, {"y"}));
  };
  Graph graph = import(cast(Proto::FLOAT16));
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<RoundOp>(graph.nodes[0].op));
  EXPECT_EQ(import(cast(Proto::FLOAT)).nodes.size(), 1u);
  EXPECT_EQ(import(cast(Proto::FLOAT), {-1, 3, 8, 8}, OnnxModel::kHalf).nodes.size(), 1u);
  EXPECT_EQ(import(cast(Proto::FLOAT16), {-1, 3, 8, 8}, OnnxModel::kHalf).nodes.size(), 1u);
  EXPECT_EQ(import(cast(Proto::FLOAT), {-1, 3, 8, 8}, Proto::UINT8).nodes.size(), 1u);
  EXPECT_EQ(import(cast(Proto::DOUBLE)).nodes.size(), 1u);
  graph = import(cast(Proto::BFLOAT16));
  EXPECT_TRUE(std::get<RoundOp>(graph.nodes[0].op).brain);
  EXPECT_EQ(std::get<UnaryOp>(import(cast(Proto::INT64)).nodes[0].op).kind, UnaryKind::truncate);
  EXPECT_EQ(std::get<UnaryOp>(import(cast(Proto::BOOL)).nodes[0].op).kind, UnaryKind::to_bool);
  EXPECT_THAT(refusal(unary(13, "Cast")), HasSubstr("'to' is missing"));
  EXPECT_THAT(refusal(unary(13, "Cast").set("to", int64_t{-1})), HasSubstr("number -1"));
}

TEST(OnnxCast, TypesDoNotMixByThemselves) {
  OnnxModel model(13);
  model.initializer("h", OnnxModel::raw<uint16_t>({}, OnnxModel::kHalf, {float_to_half(1)}));
  model.node("Add", {"x", "h"}, {"y"});
  EXPECT_THAT(refusal(model), HasSubstr("'x' is float32, 'h' is float16"));
  EXPECT_EQ(import(model, {-1, 3}, OnnxModel::kHalf).nodes.size(), 1u);
  // A value that Cast rounds to fp16 has type float16 from then on.
  OnnxModel rounded(13);
  rounded.node("Cast", {"x"}, {"h"}).set("to", static_cast<int64_t>(OnnxModel::kHalf)).node("Add", {"x", "h"}, {"y"});
  EXPECT_THAT(refusal(rounded), HasSubstr("'x' is float32, 'h' is float16"));
}

TEST(OnnxPad, TakesAttributesAndSinceOpset11Inputs) {
  const PadOp old = only<PadOp>(
      import(unary(10, "Pad").list("pads", {0, 0, 1, 2, 0, 0, 3, -1}).set("value", 2.0f).set("mode", "constant")));
  EXPECT_THAT(old.pads, ElementsAre(0, 0, 1, 2, 0, 0, 3, -1));
  EXPECT_EQ(old.value, 2);
  EXPECT_EQ(old.mode, PadMode::constant);
  OnnxModel model(13);
  model.initializer("pads", OnnxModel::integers({8}, {0, 0, 1, 2, 0, 0, 3, 4}));
  model.initializer("value", OnnxModel::floats({}, {5}));
  OnnxModel plain = model, valued = model, edge = model, wrap = model, computed = model;
  EXPECT_EQ(only<PadOp>(import(plain.node("Pad", {"x", "pads"}, {"y"}))).value, 0);
  EXPECT_EQ(only<PadOp>(import(valued.node("Pad", {"x", "pads", "value"}, {"y"}).set("mode", "reflect"))).mode,
            PadMode::reflect);
  EXPECT_EQ(only<PadOp>(import(edge.node("Pad", {"x", "pads", ""}, {"y"}).set("mode", "edge"))).mode, PadMode::edge);
  EXPECT_EQ(only<PadOp>(import(wrap.node("Pad", {"x", "pads"}, {"y"}).set("mode", "wrap"))).mode, PadMode::wrap);
  EXPECT_THAT(refusal(computed.node("Pad", {"x", "pads", "x"}, {"y"})),
              HasSubstr("must be constant, but the model computes it"));
  EXPECT_THAT(refusal(unary(10, "Pad")), HasSubstr("'pads' is missing"));
}

TEST(OnnxPad, AxesSayWhichDimensions) {
  const auto pad = [](int64_t opset, const std::vector<int64_t>& axes) {
    OnnxModel model(opset);
    model.initializer("pads", OnnxModel::integers({4}, {1, 2, 3, 4}));
    model.initializer("axes", OnnxModel::integers({std::ssize(axes)}, axes));
    return std::move(model.node("Pad", {"x", "pads", "", "axes"}, {"y"}));
  };
  EXPECT_THAT(only<PadOp>(import(pad(18, {2, -1}))).pads, ElementsAre(0, 0, 1, 2, 0, 0, 3, 4));
  EXPECT_THAT(refusal(pad(18, {2, 4})), HasSubstr("axis 4"));
  EXPECT_THAT(refusal(pad(18, {2, -2})), HasSubstr("twice"));
  EXPECT_THAT(refusal(pad(18, {2})), HasSubstr("expected 2 pads (2 for each axis), got 4"));
  EXPECT_THAT(refusal(pad(17, {2, 3})), HasSubstr("expected at most 3, got"));
  // The rank stays known through every operator except a Squeeze without axes.
  OnnxModel known = pad(18, {0, 1}), unknown = pad(18, {0, 1});
  known.graph().mutable_node(0)->set_input(0, "f");
  known.node("Flatten", {"x"}, {"f"});
  known.graph().mutable_node()->SwapElements(0, 1);
  EXPECT_EQ(std::get<PadOp>(import(known).nodes[1].op).pads.size(), 4u);
  unknown.graph().mutable_node(0)->set_input(0, "s");
  unknown.node("Squeeze", {"x"}, {"s"});
  unknown.graph().mutable_node()->SwapElements(0, 1);
  EXPECT_THAT(refusal(unknown, {-1, 3, -1, 8}), HasSubstr("is unknown"));
}

}  // namespace
}  // namespace convlab
