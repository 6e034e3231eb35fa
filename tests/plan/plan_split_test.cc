#include "convlab/rewrite/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/graph_builder.h"

namespace convlab {
namespace {

using testing::HasSubstr;
using testing::Optional;

std::optional<std::string> why_not(GraphBuilder& builder) {
  Shape shape = builder.graph().input_shape;
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
      EXPECT_EQ(why_not(builder), std::nullopt);  // 12 numbers an image, one after the other
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
