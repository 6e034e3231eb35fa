// Tests that each operator written as ONNX and reimported is unchanged, in an opset that has it, with casts around
// operators that use other types than float32.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/reading/onnx_import.h"
#include "convlab/model/onnx/writing/onnx_export.h"
#include "tests/model/op_text.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Proto = onnx::TensorProto;

/// An operand: an input of the graph or a constant.
struct Operand {
  Shape shape;
  std::vector<float> values = {};  ///< of a constant; empty for an input
  ElementType type = ElementType::f32;
};

Operand numbers(Shape shape, std::vector<float> values) { return {std::move(shape), std::move(values)}; }
Operand weights(Shape shape) {
  const auto count = static_cast<size_t>(element_count(shape));
  return {std::move(shape), std::vector<float>(count, 0.5f)};
}
Operand scale(float value = 0.5f) { return numbers({}, {value}); }
Operand zero(float value = 3) { return numbers({}, {value}); }

ValueId add_operand(Graph& graph, const Operand& operand) {
  const ValueId value = graph.add_value(fmt::format("v{}", graph.value_names.size()));
  if (operand.values.empty()) {
    graph.inputs.push_back({.value = value, .shape = operand.shape, .type = operand.type});
  } else {
    graph.constants[value] = Tensor::of<float>(operand.shape, operand.values);
  }
  return value;
}

/// A graph of one node with these operands.
Graph one(Op op, const std::vector<Operand>& operands, ElementType output = ElementType::f32) {
  Graph graph{.name = "one", .inputs = {}};
  Node node{.name = "node", .op = std::move(op)};
  for (const Operand& operand : operands) node.inputs.push_back(add_operand(graph, operand));
  node.output = graph.add_value("y");
  graph.outputs = {{.value = node.output, .type = output}};
  graph.nodes.push_back(std::move(node));
  return graph;
}

/// Appends a node whose inputs are the last node's output and these operands.
Graph then(Graph graph, Op op, const std::vector<Operand>& operands = {}) {
  Node node{.name = "then", .op = std::move(op), .inputs = {graph.nodes.back().output}};
  for (const Operand& operand : operands) node.inputs.push_back(add_operand(graph, operand));
  node.output = graph.add_value("z");
  graph.outputs = {{.value = node.output}};
  graph.nodes.push_back(std::move(node));
  return graph;
}

onnx::ModelProto exported(const Graph& graph) {
  const std::vector<uint8_t> bytes = export_onnx(graph);
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return model;
}

int64_t opset(const Graph& graph) { return exported(graph).opset_import(0).version(); }

std::vector<std::string> operators(const Graph& graph) {
  const onnx::ModelProto model = exported(graph);
  std::vector<std::string> types;
  for (const auto& node : model.graph().node()) types.push_back(node.op_type());
  return types;
}

Graph again(const Graph& graph) { return import_onnx(export_onnx(graph), "again.onnx"); }

/// Expects that the graph is written in this opset and reimported unchanged.
void expect_same(int64_t wanted_opset, const Graph& graph) {
  SCOPED_TRACE(text_of(graph.nodes.back().op));
  EXPECT_EQ(opset(graph), wanted_opset);
  const Graph back = again(graph);
  EXPECT_EQ(texts_of(back), texts_of(graph));
  EXPECT_EQ(back.outputs[0].type, graph.outputs[0].type);
  ASSERT_EQ(back.constants.size(), graph.constants.size());
  auto other = back.constants.begin();
  for (size_t i = 0; i < graph.nodes.size() && i < back.nodes.size(); ++i) {
    for (size_t k = 0; k < graph.nodes[i].inputs.size(); ++k) {
      const auto before = graph.constants.find(graph.nodes[i].inputs[k]);
      if (before == graph.constants.end()) continue;
      other = back.constants.find(back.nodes[i].inputs[k]);
      ASSERT_NE(other, back.constants.end());
      EXPECT_EQ(other->second.shape(), before->second.shape());
      EXPECT_TRUE(std::ranges::equal(other->second.values<float>(), before->second.values<float>()));
    }
  }
}

const Shape kImage{-1, 4, 8, 8}, kOpen{-1, 4, -1, -1};
constexpr Pool kPool{.kernel_h = 3,
                     .kernel_w = 2,
                     .stride_h = 2,
                     .stride_w = 1,
                     .pad_top = 1,
                     .pad_left = 0,
                     .pad_bottom = 2,
                     .pad_right = 1};
constexpr ConvOp kConv{.stride_h = 2,
                       .stride_w = 1,
                       .dilation_h = 1,
                       .dilation_w = 2,
                       .pad_top = 1,
                       .pad_left = 2,
                       .pad_bottom = 0,
                       .pad_right = 3,
                       .groups = 2};

TEST(OnnxWrite, Windows) {
  expect_same(13, one(kConv, {{kImage}, weights({6, 2, 3, 2}), weights({6})}));
  expect_same(13, one(ConvOp{.auto_pad = AutoPad::same_lower}, {{kImage}, weights({6, 4, 3, 2})}));
  const ConvTransposeOp transposed{.stride_h = 2,
                                   .stride_w = 3,
                                   .dilation_h = 1,
                                   .dilation_w = 2,
                                   .pad_top = 1,
                                   .pad_left = 0,
                                   .pad_bottom = 2,
                                   .pad_right = 1,
                                   .output_pad_h = 1,
                                   .output_pad_w = 2,
                                   .groups = 2};
  expect_same(13, one(transposed, {{kImage}, weights({4, 3, 3, 2}), weights({6})}));
  expect_same(13, one(ConvTransposeOp{.stride_h = 2, .stride_w = 2, .output_h = 16, .output_w = 17},
                      {{kImage}, weights({4, 3, 3, 3})}));
  expect_same(13, one(ConvTransposeOp{.stride_h = 2, .stride_w = 2, .auto_pad = AutoPad::same_upper},
                      {{kImage}, weights({4, 3, 3, 3})}));
  Pool pool = kPool;
  expect_same(13, one(PoolOp{.pool = pool}, {{kImage}}));
  pool.dilation_w = 2, pool.ceil_mode = true;
  expect_same(13, one(PoolOp{.pool = pool}, {{kOpen}}));
  pool.kind = PoolKind::average;
  expect_same(21, one(PoolOp{.pool = pool}, {{kOpen}}));
  pool.dilation_w = 1, pool.count_include_pad = true;
  expect_same(13, one(PoolOp{.pool = pool, .auto_pad = AutoPad::explicit_pads}, {{kOpen}}));
  expect_same(13, one(MaxPoolIndicesOp{.pool = kPool, .columns_first = true}, {{kImage}}, ElementType::i64));
  const MaxUnpoolOp unpool{.pool = {.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2},
                           .output_shape = {1, 1, 5, 5}};
  expect_same(13, one(unpool, {{{1, 1, 2, 2}}, numbers({1, 1, 2, 2}, {0, 3, 8, 10})}));
  expect_same(13, one(LpPoolOp{.pool = kPool, .p = 3}, {{kImage}}));
  Pool dilated = kPool;
  dilated.dilation_h = 2;
  expect_same(21, one(LpPoolOp{.pool = dilated, .p = 1}, {{kImage}}));
  expect_same(13, one(GlobalAveragePoolOp{}, {{kImage}}));
  const Col2ImOp fold{.image_h = 5, .image_w = 6, .block_h = 3, .block_w = 2, .stride_w = 2, .pad_top = 1};
  expect_same(21, one(fold, {{{2, 18, 12}}}));
  expect_same(13, one(LrnOp{.alpha = 0.5f, .beta = 0.25f, .bias = 2, .size = 3}, {{kImage}}));
}

TEST(OnnxWrite, RoundingUpIsLeftOutWhereItMakesNoDifference) {
  // Versions of ONNX disagree on whether a window that begins in the trailing padding counts.
  const Pool pool{.kernel_h = 2, .kernel_w = 2, .stride_h = 3, .stride_w = 3, .pad_bottom = 1, .ceil_mode = true};
  const auto written = [&](const Shape& image) {
    return std::get<PoolOp>(again(one(PoolOp{.pool = pool}, {{image}})).nodes[0].op).pool.ceil_mode;
  };
  EXPECT_FALSE(written({1, 1, 5, 5}));
  EXPECT_TRUE(written({1, 1, 4, 4}));
}

TEST(OnnxWrite, Sampling) {
  for (const auto coordinates :
       {ResizeCoordinates::half_pixel, ResizeCoordinates::half_pixel_symmetric, ResizeCoordinates::pytorch_half_pixel,
        ResizeCoordinates::align_corners, ResizeCoordinates::asymmetric, ResizeCoordinates::tf_half_pixel_for_nn}) {
    expect_same(21, one(ResizeOp{.mode = SampleMode::linear, .coordinates = coordinates, .scales = {1, 1, 2, 1.5f}},
                        {{kImage}}));
  }
  for (const auto nearest :
       {NearestRule::round_prefer_floor, NearestRule::round_prefer_ceil, NearestRule::floor, NearestRule::ceil}) {
    expect_same(21, one(ResizeOp{.nearest = nearest, .sizes = {5, 20}, .axes = {2, 3}}, {{kImage}}));
  }
  expect_same(21, one(ResizeOp{.mode = SampleMode::cubic,
                               .aspect_ratio = AspectRatio::not_larger,
                               .cubic_coeff_a = -0.5f,
                               .exclude_outside = true,
                               .antialias = true,
                               .sizes = {4, 5},
                               .axes = {2, 3}},
                      {{kImage}}));
  expect_same(21, one(ResizeOp{.mode = SampleMode::linear,
                               .coordinates = ResizeCoordinates::tf_crop_and_resize,
                               .extrapolation_value = 7,
                               .sizes = {4, 5},
                               .axes = {2, 3},
                               .roi = {0.25f, 0, 1.5f, 1}},
                      {{kImage}}));
  for (const auto mode : {SampleMode::nearest, SampleMode::linear, SampleMode::cubic}) {
    for (const auto padding : {SamplePadding::zeros, SamplePadding::border, SamplePadding::reflection}) {
      expect_same(21, one(GridSampleOp{.mode = mode, .padding = padding, .align_corners = true},
                          {{{2, 4, 8, 8}}, {{2, 3, 5, 2}}}));
    }
  }
}

TEST(OnnxWrite, Opset10sRuleOfRoundingBecomesOneForEachDirection) {
  const ResizeOp simple{.coordinates = ResizeCoordinates::asymmetric, .nearest = NearestRule::simple};
  const auto back = [&](std::vector<float> scales) {
    ResizeOp op = simple;
    op.scales = std::move(scales);
    std::vector<NearestRule> rules;
    for (const Node& node : again(one(op, {{kImage}})).nodes) rules.push_back(std::get<ResizeOp>(node.op).nearest);
    return rules;
  };
  EXPECT_THAT(back({1, 1, 2, 2}), ElementsAre(NearestRule::floor));
  EXPECT_THAT(back({1, 1, 0.5f, 1}), ElementsAre(NearestRule::ceil));
  EXPECT_THAT(back({1, 1, 0.5f, 2}), ElementsAre(NearestRule::ceil, NearestRule::floor));
}

TEST(OnnxWrite, FunctionsOfOneNumber) {
  for (int kind = 0; kind <= static_cast<int>(UnaryKind::shrink); ++kind) {
    const auto each = static_cast<UnaryKind>(kind);
    UnaryOp op{each};
    int64_t opset = 13;
    ElementType type = ElementType::f32;
    switch (each) {
      case UnaryKind::selu:
      case UnaryKind::hard_sigmoid:
      case UnaryKind::shrink:
        op.beta = 0.25f;
        [[fallthrough]];
      case UnaryKind::elu:
      case UnaryKind::celu:
      case UnaryKind::thresholded_relu:
        op.alpha = 0.75f;
        break;
      case UnaryKind::swish:
        op.alpha = 0.75f;
        opset = 24;
        break;
      case UnaryKind::hard_swish:
      case UnaryKind::mish:
      case UnaryKind::gelu:
      case UnaryKind::gelu_tanh:
        opset = 21;
        break;
      case UnaryKind::is_inf:
        op.alpha = 1;
        [[fallthrough]];
      case UnaryKind::is_nan:
      case UnaryKind::to_bool:
        type = ElementType::u8;
        break;
      case UnaryKind::truncate:
        type = ElementType::i64;
        break;
      case UnaryKind::logical_not:
        continue;  // takes a bool, tested below
      default:
        break;
    }
    expect_same(opset, one(op, {{kImage}}, type));
  }
  for (const auto kind : {ActivationKind::relu, ActivationKind::sigmoid, ActivationKind::tanh}) {
    expect_same(13, one(ActivationOp{{.kind = kind}}, {{kImage}}));
  }
  expect_same(13, one(ActivationOp{{.kind = ActivationKind::leaky_relu, .alpha = 0.25f}}, {{kImage}}));
  expect_same(13, one(ActivationOp{{.kind = ActivationKind::clip, .alpha = -1, .beta = 6}}, {{kImage}}));
  expect_same(13, one(RoundOp{}, {{kImage}}, ElementType::f16));
  expect_same(13, one(RoundOp{.brain = true}, {{kImage}}));
}

TEST(OnnxWrite, FunctionsOfTwoNumbers) {
  expect_same(13, one(AddOp{}, {{kImage}, weights({4, 1, 1})}));
  expect_same(13, one(MulOp{}, {{kImage}, weights({4, 1, 1})}));
  for (int kind = 0; kind <= static_cast<int>(BinaryKind::prelu); ++kind) {
    const auto each = static_cast<BinaryKind>(kind);
    const bool truth = each >= BinaryKind::equal && each <= BinaryKind::less_equal;
    const bool of_truths = each >= BinaryKind::logical_and && each <= BinaryKind::logical_xor;
    if (of_truths || each == BinaryKind::modulo) continue;  // tested below
    expect_same(13, one(BinaryOp{each}, {{kImage}, weights({4, 1, 1})}, truth ? ElementType::u8 : ElementType::f32));
  }
  const Operand whole{.shape = {-1, 4}, .type = ElementType::i64};
  expect_same(13, one(BinaryOp{BinaryKind::modulo}, {whole, numbers({4}, {2, 3, 4, 5})}, ElementType::i64));
}

TEST(OnnxWrite, TruthsStayTruthsBetweenOperators) {
  Graph graph = one(BinaryOp{BinaryKind::less}, {{kImage}, scale()});
  graph = then(std::move(graph), UnaryOp{UnaryKind::logical_not});
  graph = then(std::move(graph), BinaryOp{BinaryKind::logical_xor}, {numbers({4, 1, 1}, {1, 0, 0, 1})});
  graph = then(std::move(graph), WhereOp{}, {weights({1}), {kImage}});
  expect_same(13, graph);
  EXPECT_THAT(operators(graph), ElementsAre("Less", "Not", "Xor", "Where")) << "without a Cast";
  // A bool that is used in arithmetic and is also an output stays bool in the output.
  graph = then(one(BinaryOp{BinaryKind::equal}, {{kImage}, scale()}, ElementType::u8), MulOp{}, {scale()});
  graph.outputs.push_back({.value = graph.nodes[0].output, .type = ElementType::u8});
  EXPECT_THAT(operators(graph), ElementsAre("Equal", "Cast", "Mul"));
  EXPECT_EQ(exported(graph).graph().output(1).type().tensor_type().elem_type(), Proto::BOOL);
  EXPECT_EQ(texts_of(again(graph)), texts_of(graph));
}

TEST(OnnxWrite, AlongAxes) {
  expect_same(13,
              one(BatchNormOp{.epsilon = 0.25f}, {{kImage}, weights({4}), weights({4}), weights({4}), weights({4})}));
  expect_same(21, one(NormalizeOp{.axis = 1, .epsilon = 0.25f}, {{{-1, 8}}, weights({8}), weights({8})}));
  expect_same(21, one(NormalizeOp{.axis = -1, .epsilon = 0.25f}, {{{-1, 8}}, weights({8})}));
  expect_same(21, one(NormalizeOp{.axis = 1, .part = NormalizePart::mean}, {{{-1, 8}}}));
  expect_same(21, one(NormalizeOp{.axis = 1, .part = NormalizePart::inverse_deviation}, {{{-1, 8}}}));
  expect_same(23, one(NormalizeOp{.axis = 1, .epsilon = 0.25f, .center = false}, {{{-1, 8}}, weights({8})}));
  expect_same(21, one(NormalizeOp{.groups = 2, .epsilon = 0.25f}, {{kImage}, weights({4}), weights({4})}));
  expect_same(13, one(NormalizeOp{.groups = 4, .epsilon = 0.25f}, {{kImage}, weights({4}), weights({4})}));
  expect_same(13, one(LpNormalizeOp{.axis = 2, .p = 1}, {{kImage}}));
  expect_same(13, one(SoftmaxOp{.axis = 1}, {{kImage}}));
  expect_same(13, one(SoftmaxOp{.axis = -2, .log = true}, {{kImage}}));
  for (int kind = 0; kind <= static_cast<int>(ReduceKind::sum_square); ++kind) {
    const auto each = static_cast<ReduceKind>(kind);
    expect_same(21, one(ReduceOp{.kind = each, .axes = {1, -1}, .keep_dims = false}, {{kImage}}));
    expect_same(21, one(ReduceOp{.kind = each}, {{kImage}}));
  }
  expect_same(13, one(ArgReduceOp{.axis = 1, .keep_dims = false, .last = true}, {{kImage}}, ElementType::i64));
  expect_same(13, one(ArgReduceOp{.axis = -1, .largest = false}, {{kImage}}, ElementType::i64));
  expect_same(13, one(TopKOp{.axis = 1, .k = 3, .largest = false, .sorted = false}, {{kImage}}));
  expect_same(13, one(TopKOp{.axis = -1, .k = 2, .indices = true}, {{kImage}}, ElementType::i64));
  expect_same(13, one(CumSumOp{.axis = 2, .exclusive = true, .reverse = true}, {{kImage}}));
  expect_same(13, one(GemmOp{.alpha = 2, .beta = 3, .transpose_a = true, .transpose_b = true},
                      {{{4, -1}}, weights({5, 4}), weights({5})}));
  expect_same(13, one(MatMulOp{}, {{{-1, 3, 4}}, {{-1, 4, 5}}}));
  expect_same(13, one(EinsumOp{"nij,njk->nik"}, {{{-1, 3, 4}}, {{-1, 4, 5}}}));
}

TEST(OnnxWrite, Rearrangements) {
  expect_same(13, one(ConcatOp{.axis = -1}, {{kImage}, {kImage}, {kImage}}));
  expect_same(13, one(FlattenOp{.axis = 2}, {{kImage}}));
  expect_same(13, one(ReshapeOp{{0, 2, -1}}, {{kImage}}));
  expect_same(13, one(SqueezeOp{{1, -1}}, {{{-1, 1, 8, 1}}}));
  expect_same(13, one(SqueezeOp{}, {{{2, 1, 8, 1}}}));
  expect_same(13, one(UnsqueezeOp{{0, -1}}, {{kImage}}));
  expect_same(13, one(TransposeOp{{0, 2, 3, 1}}, {{kImage}}));
  expect_same(13, one(TransposeOp{}, {{kImage}}));
  expect_same(13, one(PadOp{.pads = {0, 0, 1, 2, 0, 0, 3, -1}, .value = 5}, {{kImage}}));
  for (const auto mode : {PadMode::reflect, PadMode::edge, PadMode::wrap}) {
    expect_same(mode == PadMode::wrap ? 21 : 13,
                one(PadOp{.mode = mode, .pads = {0, 0, 1, 2, 0, 0, 3, 1}}, {{kImage}}));
  }
  expect_same(13, one(SliceOp{.starts = {1, -1},
                              .ends = {7, std::numeric_limits<int64_t>::min()},
                              .axes = {2, 3},
                              .steps = {2, -1}},
                      {{kImage}}));
  expect_same(13, one(SliceOp{.starts = {1}, .ends = {3}, .axes = {1}}, {{kImage}}));
  const Graph first = again(one(SliceOp{.starts = {0, 1}, .ends = {2, 3}}, {{{4, 5}}}));
  EXPECT_THAT(std::get<SliceOp>(first.nodes[0].op).axes, ElementsAre(0, 1));
  expect_same(13, one(ExpandOp{{3, 1, 4, 8, 8}}, {{{1, 4, 1, 8}}}));
  EXPECT_THAT(std::get<ExpandOp>(again(one(ExpandOp{{-1, 4}}, {{{-1, 1}}})).nodes[0].op).shape, ElementsAre(1, 4))
      << "which keeps the number of images, too";
  expect_same(13, one(ExpandOp{{ExpandOp::kImages, 3, 4}}, {weights({1, 1, 4}), {kImage}}));
  expect_same(13, one(ExpandOp{{3, ExpandOp::kImages}, 5}, {weights({3, 1}), {kImage, {}, ElementType::u8}}));
  expect_same(13, one(TileOp{{1, 2, 1, 3}}, {{kImage}}));
  expect_same(13, one(DepthToSpaceOp{.block = 2}, {{kImage}}));
  expect_same(13, one(DepthToSpaceOp{.block = 2, .columns_rows_depth = true}, {{kImage}}));
  expect_same(13, one(SpaceToDepthOp{.block = 4}, {{kImage}}));
  expect_same(21, one(TriluOp{.upper = false, .k = -1}, {{kImage}}));
}

TEST(OnnxWrite, PickingAndPlacing) {
  const Operand indices{.shape = {2}, .type = ElementType::i64};
  expect_same(13, one(GatherOp{.axis = 1}, {{kImage}, numbers({2, 2}, {0, -1, 3, 2})}));
  expect_same(13, one(GatherOp{.axis = 1}, {{kImage}, indices}));
  expect_same(13, one(GatherElementsOp{.axis = 1}, {{{1, 3}}, numbers({1, 2}, {2, 0})}));
  expect_same(13, one(GatherNdOp{.batch_dims = 1}, {{{2, 3, 4}}, numbers({2, 1}, {2, 0})}));
  for (int each = 0; each <= static_cast<int>(ScatterReduction::min); ++each) {
    const auto reduction = static_cast<ScatterReduction>(each);
    const int64_t opset = reduction == ScatterReduction::none ? 13 : 21;
    expect_same(opset, one(ScatterElementsOp{.axis = 1, .reduction = reduction},
                           {{{1, 5}}, numbers({1, 2}, {1, 3}), {{1, 2}}}));
    expect_same(opset, one(ScatterNdOp{reduction}, {{{5, 4}}, numbers({2, 1}, {1, 3}), {{2, 4}}}));
  }
  // Computed indices pass from operator to operator without a Cast.
  Graph graph = one(TopKOp{.axis = 1, .k = 2, .indices = true}, {{{1, 5}}});
  Node gather{.name = "gather", .op = GatherElementsOp{.axis = 1}, .inputs = {0, 1}, .output = graph.add_value("z")};
  graph.nodes.push_back(gather);
  graph.outputs = {{.value = gather.output}};
  expect_same(13, graph);
  EXPECT_THAT(operators(graph), ElementsAre("TopK", "GatherElements"));
}

TEST(OnnxWrite, Quantized) {
  const Operand bytes{.shape = kImage, .type = ElementType::u8}, chars{.shape = kImage, .type = ElementType::i8},
      sums{.shape = kImage, .type = ElementType::i32};
  expect_same(13, one(QuantizeOp{}, {{kImage}, scale(), zero()}, ElementType::u8));
  expect_same(13, one(QuantizeOp{}, {{kImage}, scale()}, ElementType::u8));
  expect_same(13, one(QuantizeOp{.axis = 2, .low = -128, .high = 127},
                      {{kImage}, weights({8}), numbers({8}, {0, 1, 2, 3, 4, 5, 6, -7})}, ElementType::i8));
  expect_same(21, one(QuantizeOp{.low = -128, .high = 127}, {{kImage}, scale()}, ElementType::i8));
  expect_same(21, one(QuantizeOp{.low = -32768, .high = 32767}, {{kImage}, scale(), zero()}, ElementType::i32));
  expect_same(21, one(QuantizeOp{.axis = 1, .block_size = 2}, {{{3, 8}}, weights({3, 4})}, ElementType::u8));
  expect_same(13, one(DequantizeOp{}, {bytes, scale(), zero()}));
  expect_same(13, one(DequantizeOp{.axis = 3}, {chars, weights({8}), numbers({8}, {0, 1, 2, 3, 4, 5, 6, -7})}));
  expect_same(13, one(DequantizeOp{}, {sums, scale()}));
  expect_same(
      21, one(DequantizeOp{.axis = 0, .block_size = 2}, {{.shape = {4, 2}, .type = ElementType::u8}, weights({2, 2})}));
  const Operand filter = numbers({1, 4, 1, 1}, {-128, 127, 1, 0});
  const QLinearConvOp conv{.conv = {.pad_top = 1, .pad_left = 2}, .low = -128, .high = 127};
  expect_same(
      13, one(conv, {bytes, scale(), zero(200), filter, scale(), zero(-3), scale(), zero(-5), numbers({1}, {-70000})},
              ElementType::i8));
  expect_same(
      13, one(ConvIntegerOp{kConv}, {bytes, numbers({2, 2, 1, 1}, {1, 2, 3, 255}), zero(), zero()}, ElementType::i32));
  const Operand rows{.shape = {-1, 2}, .type = ElementType::u8}, matrix = numbers({2, 1}, {-100, 100});
  expect_same(
      13, one(QLinearMatMulOp{}, {rows, scale(), zero(), matrix, scale(), zero(), scale(), zero()}, ElementType::u8));
  expect_same(13, one(MatMulIntegerOp{}, {rows, matrix, zero(), zero(-1)}, ElementType::i32));
}

TEST(OnnxWrite, BytesGoFromOperatorToOperatorAsTheyAre) {
  Graph graph = one(QuantizeOp{}, {{kImage}, scale(), zero()});
  graph = then(std::move(graph), DequantizeOp{}, {scale(), zero()});
  expect_same(13, graph);
  EXPECT_THAT(operators(graph), ElementsAre("QuantizeLinear", "DequantizeLinear"));
  // Operators in between that only move data work on float32. The importer records in whole_types that the values are
  // bytes.
  graph = one(QuantizeOp{}, {{kImage}, scale(), zero()});
  graph = then(std::move(graph), FlattenOp{});
  graph = then(std::move(graph), DequantizeOp{}, {scale(), zero()});
  EXPECT_THAT(bad_input_message([&] { export_onnx(graph); }),
              HasSubstr("node 'then' (DequantizeLinear): the integer type of input"));
  graph.whole_types[graph.nodes[1].output] = ElementType::u8;
  EXPECT_THAT(operators(graph), ElementsAre("QuantizeLinear", "Cast", "Flatten", "Cast", "DequantizeLinear"));
  // Constants get the smallest integer type that holds them.
  graph = one(MatMulIntegerOp{}, {numbers({1, 2}, {-1, 300}), {.shape = {2, 2}, .type = ElementType::u8}});
  EXPECT_NO_THROW(export_onnx(graph)) << "16 bits";
  graph = one(MatMulIntegerOp{}, {numbers({1, 2}, {-1, 0.5f}), {.shape = {2, 2}, .type = ElementType::u8}});
  EXPECT_THAT(bad_input_message([&] { export_onnx(graph); }), HasSubstr("must contain only integers"));
  graph = one(QuantizeOp{.low = 0, .high = 15}, {{kImage}, scale()});
  EXPECT_THAT(bad_input_message([&] { export_onnx(graph); }), HasSubstr("quantized range 0 to 15"));
}

TEST(OnnxWrite, InputsAndOutputsKeepNamesAndTypes) {
  Graph graph =
      one(AddOp{}, {{.shape = {-1, 2}, .type = ElementType::f16}, {.shape = {-1, 2}, .type = ElementType::i32}},
          ElementType::f64);
  graph.outputs.push_back({.value = graph.nodes[0].output, .name = "twice"});
  graph.outputs.push_back({.value = graph.inputs[1].value, .type = ElementType::i32, .name = "handed on"});
  const onnx::ModelProto model = exported(graph);
  EXPECT_EQ(model.graph().input(0).type().tensor_type().elem_type(), Proto::FLOAT16);
  EXPECT_EQ(model.graph().input(1).type().tensor_type().elem_type(), Proto::INT32);
  EXPECT_EQ(model.graph().output(0).name(), "y");
  EXPECT_EQ(model.graph().output(0).type().tensor_type().elem_type(), Proto::DOUBLE);
  EXPECT_EQ(model.graph().output(1).name(), "twice");
  EXPECT_EQ(model.graph().output(2).name(), "handed on");
  const Graph back = again(graph);
  ASSERT_EQ(back.inputs.size(), 2u);
  ASSERT_EQ(back.outputs.size(), 3u);
  EXPECT_EQ(back.inputs[0].type, ElementType::f16);
  EXPECT_EQ(back.name_of(back.outputs[1]), "twice");
  EXPECT_EQ(back.outputs[0].type, ElementType::f64);
  EXPECT_EQ(back.outputs[2].value, back.inputs[1].value);
  EXPECT_EQ(texts_of(back), texts_of(graph));
}

TEST(OnnxWrite, NodesHaveNamesOfTheirOwn) {
  const Graph graph = then(then(one(FlattenOp{}, {{kImage}}), ActivationOp{}), ActivationOp{});
  const onnx::ModelProto model = exported(graph);
  std::vector<std::string> names;
  for (const auto& node : model.graph().node()) names.push_back(node.name());
  EXPECT_THAT(names, ElementsAre("node", "then", "then.2"));
}

TEST(OnnxWrite, ConstantsThatAreNoNumbersAreRefused) {
  const Graph graph = one(AddOp{}, {{kImage}, numbers({1}, {std::numeric_limits<float>::quiet_NaN()})});
  EXPECT_THAT(bad_input_message([&] { export_onnx(graph); }), HasSubstr("NaN"));
}

TEST(OnnxWrite, TheEnginesOwnStepsAreRefused) {
  EXPECT_THAT(bad_input_message([&] { export_onnx(one(ArgMaxOp{}, {{kImage}})); }),
              HasSubstr("internal operators of the engine"));
  EXPECT_THAT(bad_input_message([&] { export_onnx(one(ScaleOp{.side = 4}, {{kImage}})); }), HasSubstr("node 'node'"));
}

}  // namespace
}  // namespace convlab
