// Tests which networks split: those that can compute each image of a batch separately.

#include "convlab/rewrite/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace convlab {
namespace {

using testing::HasSubstr;
using testing::Optional;

std::optional<std::string> why_not(GraphBuilder& builder) {
  Shape shape = builder.graph().inputs[0].shape;
  shape[0] = 8;
  return why_not_split(builder.graph(), shape);
}

TEST(Split, ACourseNetworkSplits) {
  GraphBuilder builder({-1, 1, 12, 12});
  ValueId x = builder.conv(builder.input(), 4, 1, 3, true);
  x = builder.activation(x, ActivationKind::tanh);
  x = builder.max_pool(x);
  x = builder.add(FlattenOp{}, {x});
  x = builder.add(GemmOp{}, {x, builder.constant({100, 10}), builder.constant({10})});
  builder.add(SoftmaxOp{}, {x});
  EXPECT_EQ(why_not(builder), std::nullopt);
}

TEST(Split, ReshapesThatKeepImagesApartDo) {
  for (const Shape& shape : {Shape{0, -1}, Shape{-1, 12}, Shape{-1, 6}, Shape{-1, 2, 6}, Shape{0, 12}}) {
    GraphBuilder builder({-1, 3, 2, 2});
    builder.add(ReshapeOp{shape}, {builder.input()});
    EXPECT_EQ(why_not(builder), std::nullopt) << to_text(shape);
  }
}

TEST(Split, ReshapesThatMixImagesDoNot) {
  for (const Shape& shape : {Shape{1, -1}, Shape{12, -1}, Shape{3, 4, -1}, Shape{1, 12}, Shape{-1}}) {
    GraphBuilder builder({-1, 3, 2, 2});
    const ValueId x = builder.add(ReshapeOp{shape}, {builder.input()}, "reshape");
    if (shape == Shape{-1}) {
      EXPECT_EQ(why_not(builder), std::nullopt);  // 12 elements per image, contiguous
      builder.add(SoftmaxOp{0}, {x}, "reshape");
    }
    EXPECT_THAT(why_not(builder), Optional(HasSubstr("reshape"))) << to_text(shape);
  }
}

TEST(Split, WhatMixesImagesWithoutChangingShapesDoesNot) {
  const auto refused = [](Op op, std::vector<Shape> constants = {}) {
    GraphBuilder builder({-1, 3});
    std::vector<ValueId> inputs{builder.input()};
    for (const Shape& shape : constants) inputs.push_back(builder.constant(shape));
    builder.add(std::move(op), inputs, "mixer");
    return why_not(builder);
  };
  EXPECT_EQ(refused(SoftmaxOp{1}), std::nullopt);
  EXPECT_THAT(refused(SoftmaxOp{0}), Optional(HasSubstr("mixer")));
  EXPECT_THAT(refused(SoftmaxOp{-2}), Optional(HasSubstr("mixer")));
  EXPECT_THAT(refused(SoftmaxOp{0, false, true}), Optional(HasSubstr("mixer")));
  EXPECT_EQ(refused(PadOp{PadMode::constant, {0, 1, 0, 1}}), std::nullopt);
  EXPECT_THAT(refused(PadOp{PadMode::edge, {1, 0, -1, 0}}), Optional(HasSubstr("mixer")));
  EXPECT_THAT(refused(PadOp{PadMode::edge, {1, 0, 0, 0}}), Optional(HasSubstr("mixer")));
  EXPECT_THAT(refused(TransposeOp{}), Optional(HasSubstr("mixer")));
  EXPECT_THAT(refused(GemmOp{1, 1, true, false}, {{2, 3}}), Optional(HasSubstr("mixer")));
  EXPECT_EQ(refused(AddOp{}, {{1, 3}}), std::nullopt);
  EXPECT_EQ(refused(AddOp{}, {{3}}), std::nullopt);
  EXPECT_THAT(refused(AddOp{}, {{2, 3}}), Optional(HasSubstr("mixer")));
  EXPECT_THAT(refused(AddOp{}, {{2, 1, 3}}), Optional(HasSubstr("mixer")));
  EXPECT_EQ(refused(MatMulOp{}, {{3, 5}}), std::nullopt);
  EXPECT_EQ(refused(FlattenOp{1}), std::nullopt);
  EXPECT_THAT(refused(FlattenOp{0}), Optional(HasSubstr("mixer")));
  EXPECT_THAT(refused(SqueezeOp{}), Optional(HasSubstr("mixer")));
  EXPECT_THAT(refused(UnsqueezeOp{{0}}), Optional(HasSubstr("mixer")));
  EXPECT_EQ(refused(UnsqueezeOp{{1}}), std::nullopt);
}

/// Returns why a network of this single operator does not split. Its first input is the images or, unless `first`, a
/// constant.
std::optional<std::string> refused(Op op, const Shape& images, std::vector<Shape> constants = {}, bool first = true) {
  Shape input{-1};
  input.insert(input.end(), images.begin(), images.end());
  GraphBuilder builder(input);
  std::vector<ValueId> inputs;
  for (const Shape& shape : constants) inputs.push_back(builder.constant(shape));
  inputs.insert(first ? inputs.begin() : inputs.end(), builder.input());
  builder.add(std::move(op), inputs, "mixer");
  return why_not(builder);
}

TEST(Split, OperatorsAlongTheImagesDoNot) {
  const auto mixes = Optional(HasSubstr("mixer"));
  const Shape map{3, 4, 6}, row{6};
  for (const int64_t axis : {0, -4}) {
    EXPECT_THAT(refused(CumSumOp{axis}, map), mixes);
    EXPECT_THAT(refused(LpNormalizeOp{axis}, map), mixes);
    EXPECT_THAT(refused(NormalizeOp{.axis = axis}, map), mixes);
    EXPECT_THAT(refused(ReduceOp{ReduceKind::sum, {axis}}, map), mixes);
    EXPECT_THAT(refused(SliceOp{{0}, {3}, {axis}, {}}, map), mixes);
    EXPECT_THAT(refused(SliceOp{{-1}, {INT64_MIN}, {axis}, {-1}}, map), mixes);
    EXPECT_EQ(refused(SliceOp{{0}, {INT64_MAX}, {axis}, {}}, map), std::nullopt);
    EXPECT_THAT(refused(GatherOp{axis}, map, {{3}}), mixes);
  }
  for (const int64_t axis : {1, 2, -1}) {
    EXPECT_EQ(refused(CumSumOp{axis}, map), std::nullopt);
    EXPECT_EQ(refused(LpNormalizeOp{axis}, map), std::nullopt);
    EXPECT_EQ(refused(NormalizeOp{.axis = axis}, map), std::nullopt);
    EXPECT_EQ(refused(ReduceOp{ReduceKind::sum, {axis}}, map), std::nullopt);
    EXPECT_EQ(refused(SliceOp{{1}, {3}, {axis}, {}}, map), std::nullopt);
    EXPECT_EQ(refused(GatherOp{axis}, map, {{2}}), std::nullopt);
    EXPECT_EQ(refused(ArgReduceOp{axis}, map), std::nullopt);
    EXPECT_EQ(refused(TopKOp{axis, 2}, map), std::nullopt);
  }
  EXPECT_EQ(refused(NormalizeOp{.groups = 3}, map), std::nullopt);
  EXPECT_THAT(refused(ReduceOp{}, map), mixes);
  EXPECT_THAT(refused(TileOp{{2, 1, 1, 1}}, map), mixes);
  EXPECT_EQ(refused(TileOp{{1, 2, 1, 3}}, map), std::nullopt);
  EXPECT_EQ(refused(ExpandOp{{-1, 3, 4, 6}}, {1, 1, 1}), std::nullopt);
  EXPECT_THAT(refused(ExpandOp{{2, 1, 3, 4, 6}}, map), mixes);
  EXPECT_EQ(refused(ExpandOp{{ExpandOp::kImages, 4}}, map, {{1, 4}}, false), std::nullopt);
  EXPECT_THAT(refused(ExpandOp{{4, ExpandOp::kImages}}, map, {{1, 1}}, false), mixes);
  EXPECT_THAT(refused(TriluOp{}, row), mixes);
  EXPECT_EQ(refused(TriluOp{}, map), std::nullopt);
}

TEST(Split, WindowsAndSamplesDo) {
  const auto mixes = Optional(HasSubstr("mixer"));
  const Shape map{3, 4, 6};
  const Pool pool{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  EXPECT_EQ(refused(ResizeOp{.scales = {1, 1, 2, 2}}, map), std::nullopt);
  EXPECT_THAT(refused(ResizeOp{.scales = {2, 1, 1, 1}}, map), mixes);
  EXPECT_THAT(
      refused(ResizeOp{.coordinates = ResizeCoordinates::tf_crop_and_resize, .scales = {1}, .axes = {0}, .roi = {0, 1}},
              map),
      mixes);
  EXPECT_EQ(refused(ConvTransposeOp{}, map, {{3, 2, 3, 3}}), std::nullopt);
  EXPECT_EQ(refused(LpPoolOp{.pool = pool}, map), std::nullopt);
  EXPECT_EQ(refused(LrnOp{.size = 3}, map), std::nullopt);
  EXPECT_EQ(refused(DepthToSpaceOp{1}, map), std::nullopt);
  EXPECT_THAT(refused(MaxPoolIndicesOp{.pool = pool}, map), mixes);  // the indices count across all images
  EXPECT_EQ(refused(UnaryOp{UnaryKind::gelu}, map), std::nullopt);
  EXPECT_EQ(refused(BinaryOp{BinaryKind::divide}, map, {{3, 1, 1}}), std::nullopt);
}

TEST(Split, IndicesOfImagesIntoAConstantDo) {
  const auto mixes = Optional(HasSubstr("mixer"));
  EXPECT_EQ(refused(GatherOp{0}, {5}, {{10, 4}}, false), std::nullopt);
  EXPECT_THAT(refused(GatherElementsOp{1}, {5}, {{3, 4}}, false), mixes);  // row by row of the constant
  EXPECT_THAT(refused(ScatterElementsOp{1}, {5}, {{1, 2}, {1, 2}}), mixes);
  EXPECT_THAT(refused(ScatterNdOp{}, {5}, {{1, 1}, {1, 5}}), mixes);
  EXPECT_EQ(refused(GatherNdOp{}, {1}, {{10, 4}}, false), std::nullopt);
  EXPECT_THAT(refused(GatherNdOp{}, {5}, {{1, 2}}), Optional(HasSubstr("")));
}

TEST(Split, SumsOfProductsWhoseImagesLeadDo) {
  EXPECT_EQ(refused(EinsumOp{"nc,kc->nk"}, {4}, {{5, 4}}), std::nullopt);
  EXPECT_EQ(refused(EinsumOp{"n...c,kc->n...k"}, {3, 4}, {{5, 4}}), std::nullopt);
  EXPECT_EQ(refused(EinsumOp{"...c,kc->...k"}, {3, 4}, {{5, 4}}), std::nullopt);
  EXPECT_NE(refused(EinsumOp{"nc,kc->kn"}, {4}, {{5, 4}}), std::nullopt);
  EXPECT_NE(refused(EinsumOp{"nc,kc->k"}, {4}, {{5, 4}}), std::nullopt);
  EXPECT_NE(refused(EinsumOp{"nc,nk->nk"}, {4}, {{1, 4}}), std::nullopt);
}

TEST(Split, QuantizedImagesDo) {
  EXPECT_EQ(refused(QuantizeOp{1}, {3, 4}, {{3}, {3}}), std::nullopt);
  EXPECT_EQ(refused(QuantizeOp{0}, {3, 4}, {{1}, {1}}), std::nullopt);
  EXPECT_NE(refused(DequantizeOp{0, 3}, {4}, {{1, 4}}), std::nullopt);  // blocks of three images
  EXPECT_EQ(refused(MatMulIntegerOp{}, {4}, {{4, 5}}), std::nullopt);
  EXPECT_EQ(refused(ConvIntegerOp{}, {3, 4, 6}, {{2, 3, 3, 3}}), std::nullopt);
}

TEST(Split, ConcatenationAlongTheBatchDoesNot) {
  for (const int64_t axis : {0, 1}) {
    GraphBuilder builder({-1, 3});
    const ValueId a = builder.activation(builder.input(), ActivationKind::relu);
    const ValueId b = builder.activation(builder.input(), ActivationKind::tanh);
    builder.add(ConcatOp{axis}, {a, b}, "concat");
    EXPECT_EQ(why_not(builder).has_value(), axis == 0);
  }
}

TEST(Split, AttentionOverTheImagesDoesNot) {
  GraphBuilder builder({-1, 4});
  const ValueId turned = builder.add(TransposeOp{}, {builder.input()});
  const ValueId products = builder.add(MatMulOp{}, {builder.input(), turned});
  builder.add(MatMulOp{}, {products, builder.input()});
  EXPECT_NE(why_not(builder), std::nullopt);
}

TEST(Split, AttentionInsideAnImageDoes) {
  GraphBuilder builder({-1, 4, 6});
  const ValueId turned = builder.add(TransposeOp{{0, 2, 1}}, {builder.input()});
  const ValueId products = builder.add(MatMulOp{}, {builder.input(), turned});
  const ValueId weights = builder.add(SoftmaxOp{}, {products});
  builder.add(MatMulOp{}, {weights, builder.input()});
  EXPECT_EQ(why_not(builder), std::nullopt);
}

}  // namespace
}  // namespace convlab
