// Tests shape inference. The expected sizes are ONNX's formulas worked out by hand.

#include "convlab/model/shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "convlab/base/error.h"
#include "convlab/model/graph.h"
#include "tests/support/op_shapes.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::HasSubstr;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

TEST(ModelShapes, ConvHasExplicitAndAutomaticPadding) {
  EXPECT_EQ(shape(ConvOp{}, {{2, 1, 28, 28}, {50, 1, 5, 5}, {50}}), (Shape{2, 50, 24, 24}));
  const ConvOp general{.stride_h = 2, .dilation_w = 3, .pad_top = 1, .pad_right = 2, .groups = 2};
  EXPECT_EQ(shape(general, {{1, 4, 9, 11}, {6, 2, 3, 2}}), (Shape{1, 6, 4, 10}));

  // ceil(5 / 2) = 3 outputs with a filter of 4 need (3 - 1) * 2 + 4 - 5 = 3 padding elements.
  ConvOp same{.stride_h = 2, .stride_w = 2, .pad_top = 7, .auto_pad = AutoPad::same_upper};
  ConvProblem problem = conv_problem(same, {1, 1, 5, 5}, {1, 1, 4, 4});
  EXPECT_EQ(problem.output_shape(), (Shape{1, 1, 3, 3}));
  EXPECT_EQ(problem.pad_top, 1);
  EXPECT_EQ(problem.pad_bottom, 2);
  same.auto_pad = AutoPad::same_lower;
  problem = conv_problem(same, {1, 1, 5, 5}, {1, 1, 4, 4});
  EXPECT_EQ(problem.pad_left, 2);
  EXPECT_EQ(problem.pad_right, 1);
  same.auto_pad = AutoPad::valid;
  EXPECT_EQ(conv_problem(same, {1, 1, 5, 5}, {1, 1, 4, 4}).pad_top, 0);

  // A filter shorter than the stride needs no padding, rather than negative padding.
  const ConvOp sparse{.stride_h = 3, .stride_w = 3, .auto_pad = AutoPad::same_upper};
  EXPECT_EQ(shape(sparse, {{1, 1, 6, 7}, {1, 1, 1, 1}}), (Shape{1, 1, 2, 3}));
}

TEST(ModelShapes, ConvRefuses) {
  EXPECT_THAT(refusal(ConvOp{}, {{1, 1, 5}, {1, 1, 3}}),
              HasSubstr("expected an input of shape N x C x H x W, got 1x1x5"));
  EXPECT_THAT(refusal(ConvOp{}, {{1, 1, 5, 5}, {1, 1, 3}}),
              HasSubstr("expected filters of shape K x C x R x S, got 1x1x3"));
  EXPECT_THAT(refusal(ConvOp{}, {{1, 3, 5, 5}, {1, 2, 3, 3}}), HasSubstr("channels"));
  EXPECT_THAT(refusal(ConvOp{.groups = 2}, {{1, 4, 5, 5}, {4, 4, 3, 3}}), HasSubstr("each of 2 groups"));
  EXPECT_THAT(refusal(ConvOp{}, {{1, 1, 2, 5}, {1, 1, 3, 3}}), HasSubstr("taller"));
  EXPECT_THAT(refusal(ConvOp{}, {{1, 1, 5, 5}, {2, 1, 3, 3}, {3}}),
              HasSubstr("the bias must have 2 elements, got shape 3"));
  EXPECT_THAT(refusal(ConvOp{}, {{1, 1, 5, 5}}), HasSubstr("expected 2 to 3, got 1"));
  EXPECT_NE(refusal(ConvOp{.stride_h = 0}, {{1, 1, 5, 5}, {1, 1, 3, 3}}), "");
  for (const AutoPad mode : {AutoPad::explicit_pads, AutoPad::same_lower}) {
    EXPECT_NE(refusal(ConvOp{.stride_h = kHuge, .auto_pad = mode}, {{1, 1, 5, 5}, {1, 1, 3, 3}}), "");
    EXPECT_NE(refusal(ConvOp{.dilation_w = kHuge, .auto_pad = mode}, {{1, 1, 5, 5}, {1, 1, 3, 3}}), "");
    EXPECT_NE(refusal(ConvOp{.stride_w = -1, .auto_pad = mode}, {{1, 1, 5, 5}, {1, 1, 3, 3}}), "");
  }
}

PoolOp square_pool(int64_t kernel, int64_t stride) {
  return {.pool = {.kernel_h = kernel, .kernel_w = kernel, .stride_h = stride, .stride_w = stride}};
}

TEST(ModelShapes, PoolFloorsOrCeils) {
  PoolOp op = square_pool(2, 2);
  EXPECT_EQ(shape(op, {{1, 3, 5, 6}}), (Shape{1, 3, 2, 3}));
  op.pool.ceil_mode = true;
  EXPECT_EQ(shape(op, {{1, 3, 5, 6}}), (Shape{1, 3, 3, 3}));
  EXPECT_TRUE(resolved_pool(op, {1, 3, 5, 6}).ceil_mode);
  EXPECT_FALSE(resolved_pool(op, {1, 3, 6, 6}).ceil_mode) << "it makes no difference there";
  // A window that would begin in the trailing padding is dropped.
  op = square_pool(2, 3);
  op.pool.pad_bottom = op.pool.pad_right = 1;
  op.pool.ceil_mode = true;
  EXPECT_EQ(shape(op, {{1, 1, 6, 7}}), (Shape{1, 1, 2, 3}));
}

TEST(ModelShapes, PoolPadsAutomatically) {
  PoolOp op = square_pool(3, 2);
  op.auto_pad = AutoPad::same_lower;
  const Pool pool = resolved_pool(op, {1, 1, 6, 5});
  EXPECT_EQ(pool.output_h(6), 3);
  EXPECT_EQ(pool.output_w(5), 3);
  EXPECT_EQ(pool.pad_top, 1);
  EXPECT_EQ(pool.pad_bottom, 0);
  EXPECT_EQ(pool.pad_left, 1);
  EXPECT_EQ(pool.pad_right, 1);
}

TEST(ModelShapes, PoolRefuses) {
  EXPECT_THAT(refusal(square_pool(4, 1), {{1, 1, 3, 4}}), HasSubstr("larger than the padded image"));
  EXPECT_THAT(refusal(square_pool(0, 1), {{1, 1, 3, 4}}),
              HasSubstr("the window size must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(refusal(square_pool(2, 0), {{1, 1, 3, 4}}),
              HasSubstr("the stride must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(refusal(square_pool(2, 1), {{1, 3, 4}}), HasSubstr("expected an input of shape N x C x H x W"));
  PoolOp op = square_pool(2, 1);
  op.pool.pad_left = 2;
  EXPECT_THAT(refusal(op, {{1, 1, 3, 4}}), HasSubstr("must be smaller than the window"));
  op.pool.pad_left = -1;
  EXPECT_THAT(refusal(op, {{1, 1, 3, 4}}), HasSubstr("a pad must be between 0 and 2147483648, got -1"));
  op.pool.pad_left = 1;
  op.pool.dilation_w = 2;
  EXPECT_THAT(refusal(op, {{1, 1, 2, 1}}), HasSubstr("must not exceed the image size"));
  EXPECT_THAT(refusal(GlobalAveragePoolOp{}, {{1, 3}}), HasSubstr("expected an input of shape N x C x H x W"));
  EXPECT_EQ(shape(GlobalAveragePoolOp{}, {{2, 3, 4, 5}}), (Shape{2, 3, 1, 1}));
}

TEST(ModelShapes, Products) {
  EXPECT_EQ(shape(GemmOp{}, {{2, 3}, {3, 4}, {4}}), (Shape{2, 4}));
  EXPECT_EQ(shape(GemmOp{.transpose_a = true, .transpose_b = true}, {{3, 2}, {4, 3}, {2, 1}}), (Shape{2, 4}));
  EXPECT_EQ(shape(GemmOp{}, {{2, 3}, {3, 4}, {}}), (Shape{2, 4}));
  EXPECT_THAT(refusal(GemmOp{}, {{2, 3}, {4, 3}}), HasSubstr("3 columns, but 4 rows"));
  EXPECT_THAT(refusal(GemmOp{}, {{2, 3, 1}, {3, 4}}), HasSubstr("matrices"));
  EXPECT_NE(refusal(GemmOp{}, {{1, 3}, {3, 4}, {2, 4}}), "") << "C may not make the result larger";
  EXPECT_EQ(shape(MatMulOp{}, {{2, 3}, {3, 4}}), (Shape{2, 4}));
  EXPECT_EQ(shape(MatMulOp{}, {{3}, {3}}), Shape{});
  EXPECT_EQ(shape(MatMulOp{}, {{3}, {3, 4}}), Shape{4});
  EXPECT_EQ(shape(MatMulOp{}, {{2, 3}, {3}}), Shape{2});
  EXPECT_EQ(shape(MatMulOp{}, {{5, 1, 2, 3}, {7, 3, 4}}), (Shape{5, 7, 2, 4}));
  EXPECT_NE(refusal(MatMulOp{}, {{2, 3}, {2, 3}}), "");
  EXPECT_NE(refusal(MatMulOp{}, {{2, 3}, {}}), "");
}

TEST(ModelShapes, Broadcasts) {
  EXPECT_EQ(shape(AddOp{}, {{2, 3, 4, 5}, {3, 1, 1}}), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(shape(MulOp{}, {{}, {2, 1}}), (Shape{2, 1}));
  EXPECT_EQ(shape(AddOp{}, {{2, 1}, {1, 3}}), (Shape{2, 3}));
  EXPECT_THAT(refusal(AddOp{}, {{2, 3}, {2}}), HasSubstr("do not broadcast"));
}

TEST(ModelShapes, Rearrangements) {
  EXPECT_EQ(shape(ConcatOp{.axis = -3}, {{1, 2, 4, 4}, {1, 3, 4, 4}}), (Shape{1, 5, 4, 4}));
  EXPECT_THAT(refusal(ConcatOp{.axis = 1}, {{1, 2, 4}, {1, 2, 5}}), HasSubstr("except along axis 1"));
  EXPECT_NE(refusal(ConcatOp{.axis = 1}, {{1, 2, 4}, {1, 2}}), "");
  EXPECT_THAT(refusal(ConcatOp{.axis = 3}, {{1, 2, 4}}), HasSubstr("axis 3"));
  EXPECT_EQ(shape(FlattenOp{}, {{2, 3, 4}}), (Shape{2, 12}));
  EXPECT_EQ(shape(FlattenOp{.axis = 3}, {{2, 3, 4}}), (Shape{24, 1}));
  EXPECT_EQ(shape(FlattenOp{.axis = -1}, {{2, 3, 4}}), (Shape{6, 4}));
  EXPECT_EQ(shape(FlattenOp{.axis = 0}, {{}}), (Shape{1, 1}));
  EXPECT_NE(refusal(FlattenOp{.axis = 4}, {{2, 3, 4}}), "");
  EXPECT_EQ(shape(ReshapeOp{.shape = {0, -1}}, {{2, 3, 4}}), (Shape{2, 12}));
  EXPECT_EQ(shape(ReshapeOp{.shape = {}}, {{1, 1}}), Shape{});
  EXPECT_THAT(refusal(ReshapeOp{.shape = {5, -1}}, {{2, 3}}), HasSubstr("not an integer"));
  EXPECT_THAT(refusal(ReshapeOp{.shape = {-1, -1}}, {{2, 3}}), HasSubstr("once"));
  EXPECT_THAT(refusal(ReshapeOp{.shape = {2, 3, 0}}, {{2, 3}}), HasSubstr("the input does not have"));
  EXPECT_THAT(refusal(ReshapeOp{.shape = {7}}, {{2, 3}}), HasSubstr("element counts"));
  EXPECT_THAT(refusal(ReshapeOp{.shape = {-2, 3}}, {{2, 3}}), HasSubstr("negative"));
  EXPECT_NE(refusal(ReshapeOp{.shape = {kHuge, kHuge}}, {{2, 3}}), "");
  EXPECT_THAT(refusal(ReshapeOp{.shape = {0, -1}}, {{0, 3}}), HasSubstr("no elements"));
  EXPECT_THAT(refusal(ReshapeOp{.shape = Shape(17, 1)}, {{1}}), HasSubstr("17 dimensions"));
  EXPECT_EQ(shape(SqueezeOp{.axes = {-1, 0}}, {{1, 2, 1, 1}}), (Shape{2, 1}));
  EXPECT_EQ(shape(SqueezeOp{}, {{1, 2, 1, 1}}), Shape{2});
  EXPECT_THAT(refusal(SqueezeOp{.axes = {1}}, {{1, 2}}), HasSubstr("not 1"));
  EXPECT_EQ(shape(UnsqueezeOp{.axes = {0, -1}}, {{2, 3}}), (Shape{1, 2, 3, 1}));
  EXPECT_THAT(refusal(UnsqueezeOp{.axes = {0, -3}}, {{2}}), HasSubstr("duplicate axis"));
  EXPECT_THAT(refusal(UnsqueezeOp{.axes = {2}}, {{2}}), HasSubstr("axis 2"));
  EXPECT_EQ(shape(TransposeOp{}, {{2, 3, 4}}), (Shape{4, 3, 2}));
  EXPECT_EQ(shape(TransposeOp{.permutation = {1, 0, 2}}, {{2, 3, 4}}), (Shape{3, 2, 4}));
  for (const std::vector<int64_t>& wrong : {std::vector<int64_t>{0, 1}, {0, 1, 1}, {0, 1, 3}, {0, 1, -1}}) {
    EXPECT_NE(refusal(TransposeOp{.permutation = wrong}, {{2, 3, 4}}), "");
  }
}

TEST(ModelShapes, PadGrowsAndCrops) {
  EXPECT_EQ(shape(PadOp{.pads = {0, 1, 2, -1}}, {{4, 5}}), (Shape{6, 5}));
  EXPECT_EQ(shape(PadOp{.mode = PadMode::reflect, .pads = {3, 0}}, {{4}}), Shape{7});
  EXPECT_THAT(refusal(PadOp{.mode = PadMode::reflect, .pads = {4, 0}}, {{4}}), HasSubstr("too short"));
  EXPECT_THAT(refusal(PadOp{.mode = PadMode::reflect, .pads = {3, -1}}, {{4}}), HasSubstr("too short"));
  EXPECT_THAT(refusal(PadOp{.pads = {-2, -2}}, {{4}}), HasSubstr("remove all elements"));
  EXPECT_THAT(refusal(PadOp{.pads = {1}}, {{4}}), HasSubstr("two for each of 1 dimensions"));
  EXPECT_NE(refusal(PadOp{.pads = {kHuge, kHuge}}, {{4}}), "");
}

TEST(ModelShapes, ElementwiseKeepsTheShape) {
  EXPECT_EQ(shape(ActivationOp{}, {{2, 3}}), (Shape{2, 3}));
  EXPECT_EQ(shape(RoundOp{}, {{2, 3}}), (Shape{2, 3}));
  EXPECT_EQ(shape(SoftmaxOp{}, {{2, 3}}), (Shape{2, 3}));
  EXPECT_NE(refusal(SoftmaxOp{.axis = 2}, {{2, 3}}), "");
  EXPECT_EQ(shape(BatchNormOp{}, {{2, 3, 4, 4}, {3}, {3}, {3}, {3}}), (Shape{2, 3, 4, 4}));
  EXPECT_THAT(refusal(BatchNormOp{}, {{2, 3, 4, 4}, {3}, {3}, {4}, {3}}),
              HasSubstr("the mean must have 3 elements, got shape 4"));
  EXPECT_NE(refusal(BatchNormOp{}, {{3}, {3}, {3}, {3}, {3}}), "");
  EXPECT_NE(refusal(BatchNormOp{}, {{2, 3}, {3}, {3}, {3}}), "");
}

/// x -> Conv (w) -> Relu
Graph small_graph() {
  Graph graph{.name = "small.onnx", .inputs = {{.shape = {-1, 1, 8, 8}}}};
  graph.inputs[0].value = graph.add_value("x");
  const ValueId w = graph.add_value("w"), y = graph.add_value("y");
  graph.outputs[0].value = graph.add_value("z");
  graph.constants.emplace(w, Tensor(ElementType::f32, {2, 1, 3, 3}));
  graph.nodes.push_back({.name = "first", .op = ConvOp{}, .inputs = {graph.inputs[0].value, w}, .output = y});
  const Activation relu{.kind = ActivationKind::relu};
  graph.nodes.push_back({.name = "second", .op = ActivationOp{relu}, .inputs = {y}, .output = graph.outputs[0].value});
  return graph;
}

std::string refusal(const Graph& graph, const Shape& input) {
  try {
    infer_shapes(graph, input);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ModelShapes, InferShapesGoesThroughTheGraph) {
  const std::vector<Shape> shapes = infer_shapes(small_graph(), Shape{5, 1, 8, 8});
  EXPECT_EQ(shapes, (std::vector<Shape>{{5, 1, 8, 8}, {2, 1, 3, 3}, {5, 2, 6, 6}, {5, 2, 6, 6}}));
}

TEST(ModelShapes, TextOfAnInputHasTheNamesOfItsDynamicSizes) {
  EXPECT_EQ(to_text(GraphInput{.shape = {-1, 3, -1, 8}}), "?x3x?x8");
  EXPECT_EQ(to_text(GraphInput{.shape = {-1, 3, -1, 8}, .size_names = {"N", "", "", "W"}}), "N x 3 x ? x 8");
  EXPECT_EQ(to_text(GraphInput{.shape = {}}), "scalar");
}

/// Joins inputs a and b along axis 1.
Graph joining(const GraphInput& a, const GraphInput& b) {
  Graph graph{.name = "joining.onnx", .inputs = {a, b}};
  for (const char* name : {"a", "b"}) graph.inputs[name[0] - 'a'].value = graph.add_value(name);
  graph.outputs[0].value = graph.add_value("y");
  graph.nodes.push_back({.name = "join", .op = ConcatOp{.axis = 1}, .inputs = {0, 1}, .output = 2});
  return graph;
}

TEST(ModelShapes, InferShapesNamesInputsOfDifferentSizes) {
  const auto refused = [](const Graph& graph, const Shape& a, const Shape& b) {
    return bad_input_message([&] { infer_shapes(graph, std::vector{a, b}); });
  };
  const std::string node = "node 'join' (Concat): shapes 2x3 and 4x3 must be equal except along axis 1";
  const GraphInput unnamed{.shape = {-1, 3}}, named{.shape = {-1, 3}, .size_names = {"batch"}};
  const GraphInput other{.shape = {-1, 3}, .size_names = {"rows"}};
  EXPECT_EQ(refused(joining(unnamed, unnamed), {2, 3}, {4, 3}),
            "joining.onnx: inputs 'a' and 'b' have different sizes of the batch: 2 and 4 (" + node + ")");
  EXPECT_EQ(refused(joining(named, named), {2, 3}, {4, 3}),
            "joining.onnx: inputs 'a' and 'b' have different sizes 'batch': 2 and 4 (" + node + ")");
  EXPECT_EQ(refused(joining(named, other), {2, 3}, {4, 3}), "joining.onnx: " + node) << "the names differ, too";
  EXPECT_EQ(infer_shapes(joining(named, named), std::vector<Shape>{{2, 3}, {2, 3}})[2], (Shape{2, 6}));
}

TEST(ModelShapes, InferShapesRefusesAndNamesTheNode) {
  EXPECT_THAT(refusal(small_graph(), {5, 1, 9, 8}), HasSubstr("input 'x' must have shape ?x1x8x8, got 5x1x9x8"));
  EXPECT_THAT(refusal(small_graph(), {5, 1, 8}), HasSubstr("input 'x' must have shape ?x1x8x8"));
  EXPECT_THAT(refusal(small_graph(), {0, 1, 8, 8}), HasSubstr("input 'x' must have shape ?x1x8x8"));
  Graph graph = small_graph();
  graph.constants.at(1) = Tensor(ElementType::f32, {2, 3, 3, 3});
  EXPECT_THAT(refusal(graph, {5, 1, 8, 8}), HasSubstr("small.onnx: node 'first' (Conv): "));
  graph = small_graph();
  graph.nodes[0].inputs[1] = graph.inputs[0].value;
  EXPECT_THAT(refusal(graph, {5, 1, 8, 8}), HasSubstr("'x') must be a constant"));
  graph = small_graph();
  std::swap(graph.nodes[0], graph.nodes[1]);
  EXPECT_THAT(refusal(graph, {5, 1, 8, 8}),
              HasSubstr("node 'second' (Relu): input 0 is not computed before this node"));
  graph = small_graph();
  graph.nodes[1].inputs[0] = 17;
  EXPECT_NE(refusal(graph, {5, 1, 8, 8}), "");
  graph = small_graph();
  graph.nodes[1].output = graph.nodes[0].output;
  EXPECT_NE(refusal(graph, {5, 1, 8, 8}), "");
  graph = small_graph();
  graph.nodes.pop_back();
  EXPECT_THAT(refusal(graph, {5, 1, 8, 8}), HasSubstr("no node computes the output"));
}

TEST(ModelShapes, EveryOperatorHasItsName) {
  EXPECT_EQ(name_of(Op{ConvOp{}}), "Conv");
  EXPECT_EQ(name_of(Op{PoolOp{.pool = {.kind = PoolKind::average}}}), "AveragePool");
  EXPECT_EQ(name_of(Op{ActivationOp{{.kind = ActivationKind::leaky_relu}}}), "LeakyRelu");
  EXPECT_EQ(name_of(Op{SoftmaxOp{.log = true}}), "LogSoftmax");
}

}  // namespace
}  // namespace convlab
