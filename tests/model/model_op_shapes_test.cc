// Tests output shapes of less common operators by ONNX's rules, worked out by hand, and messages for invalid shapes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "convlab/base/error.h"
#include "convlab/model/shapes.h"
#include "tests/support/op_shapes.h"

namespace convlab {
namespace {

using testing::HasSubstr;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

TEST(ModelOpShapes, EveryActivationHasAName) {
  EXPECT_EQ(name_of(ActivationOp{{ActivationKind::tanh}}), "Tanh");
  EXPECT_EQ(name_of(ActivationOp{{ActivationKind::swish}}), "Swish");
  EXPECT_EQ(name_of(ActivationOp{{ActivationKind::hard_swish}}), "HardSwish");
}

TEST(ModelOpShapes, NumbersOfInputs) {
  EXPECT_THAT(refusal(UnaryOp{}, {{2}, {2}}), HasSubstr("wrong number of inputs: expected 1, got 2"));
  EXPECT_THAT(refusal(BinaryOp{}, {{2}}), HasSubstr("expected 2, got 1"));
  EXPECT_THAT(refusal(WhereOp{}, {{2}, {2}}), HasSubstr("expected 3, got 2"));
  EXPECT_THAT(refusal(NormalizeOp{}, {{2}, {2}, {2}, {2}}), HasSubstr("expected 1 to 3, got 4"));
  EXPECT_THAT(refusal(QLinearConvOp{}, {{2}}), HasSubstr("expected 8 to 9, got 1"));
  EXPECT_THAT(refusal(ConvIntegerOp{}, {{2}}), HasSubstr("expected 2 to 4, got 1"));
}

TEST(ModelOpShapes, ElementByElement) {
  EXPECT_EQ(shape(BinaryOp{}, {{2, 1, 4}, {3, 1}}), (Shape{2, 3, 4}));
  EXPECT_EQ(shape(WhereOp{}, {{4}, {3, 1}, {2, 1, 1}}), (Shape{2, 3, 4}));
  EXPECT_THAT(refusal(WhereOp{}, {{4}, {3}, {}}), HasSubstr("do not broadcast"));
  EXPECT_THAT(refusal(BinaryOp{BinaryKind::prelu}, {{3, 1}, {3, 4}}), HasSubstr("the slope"));
}

TEST(ModelOpShapes, TransposedConvolutions) {
  const std::vector<Shape> inputs{{2, 4, 5, 6}, {4, 3, 3, 2}};
  EXPECT_EQ(shape(ConvTransposeOp{}, inputs), (Shape{2, 3, 7, 7}));
  EXPECT_EQ(shape(ConvTransposeOp{.stride_h = 2, .pad_top = 1, .output_pad_h = 1, .groups = 2}, inputs),
            (Shape{2, 6, 11, 7}));
  EXPECT_THAT(refusal(ConvTransposeOp{}, {{2, 3, 5, 6}, {4, 3, 3, 2}}), HasSubstr("expect 4 channels"));
  EXPECT_THAT(refusal(ConvTransposeOp{.groups = 3}, inputs), HasSubstr("3 groups"));
  EXPECT_THAT(refusal(ConvTransposeOp{.groups = 0}, inputs),
              HasSubstr("number of groups must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(refusal(ConvTransposeOp{.stride_h = 0}, inputs),
              HasSubstr("the stride must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(refusal(ConvTransposeOp{.pad_top = -1}, inputs),
              HasSubstr("a pad must be between 0 and 2147483648, got -1"));
  EXPECT_THAT(refusal(ConvTransposeOp{.pad_top = 4, .pad_bottom = 3}, inputs), HasSubstr("removes the whole output"));
  EXPECT_THAT(refusal(ConvTransposeOp{.output_pad_h = kHuge}, inputs), HasSubstr("the output padding must be"));
  EXPECT_THAT(refusal(ConvTransposeOp{}, {inputs[0], inputs[1], {4}}), HasSubstr("the bias"));
}

TEST(ModelOpShapes, BlocksToImages) {
  const Col2ImOp op{.image_h = 5, .image_w = 6, .block_h = 2, .block_w = 2};
  EXPECT_EQ(shape(op, {{2, 12, 20}}), (Shape{2, 3, 5, 6}));
  EXPECT_THAT(refusal(op, {{2, 3, 4, 5}}), HasSubstr("expected an input of shape N x C*block x L, got 2x3x4x5"));
  EXPECT_THAT(refusal(op, {{2, 13, 20}}), HasSubstr("rows (13) must be a multiple of the block's pixels (4)"));
  EXPECT_THAT(refusal(op, {{2, 12, 30}}), HasSubstr("expected columns for 4 x 5 block positions, got 30"));
  EXPECT_THAT(refusal(Col2ImOp{.image_h = 2, .block_h = 3}, {{1, 3, 1}}),
              HasSubstr("dilated block (3) is larger than the padded image (2)"));
  EXPECT_THAT(refusal(Col2ImOp{.stride_h = 0}, {{1, 1, 1}}), HasSubstr("the stride"));
  EXPECT_THAT(refusal(Col2ImOp{.pad_left = kHuge}, {{1, 1, 1}}), HasSubstr("a pad"));
}

TEST(ModelOpShapes, PoolsAndTheirUndoing) {
  const Pool pool{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  EXPECT_EQ(shape(LpPoolOp{pool}, {{1, 3, 6, 7}}), (Shape{1, 3, 3, 3}));
  EXPECT_EQ(shape(MaxPoolIndicesOp{pool}, {{1, 3, 6, 7}}), (Shape{1, 3, 3, 3}));
  EXPECT_EQ(shape(MaxUnpoolOp{pool}, {{1, 3, 3, 3}, {1, 3, 3, 3}}), (Shape{1, 3, 6, 6}));
  EXPECT_THAT(refusal(LpPoolOp{pool, 0}, {{1, 3, 6, 7}}), HasSubstr("p must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(refusal(MaxUnpoolOp{pool}, {{1, 3, 3, 3}, {1, 3, 3}}), HasSubstr("indices"));
  EXPECT_THAT(refusal(MaxUnpoolOp{.pool = {.stride_h = kHuge}}, {{1, 3, 3, 3}, {1, 3, 3, 3}}), HasSubstr("stride"));
}

TEST(ModelOpShapes, Resizing) {
  const Shape x{2, 3, 4, 5};
  EXPECT_EQ(shape(ResizeOp{.scales = {1, 1, 0.6f, 2.5f}}, {x}), (Shape{2, 3, 2, 12}));
  EXPECT_EQ(shape(ResizeOp{.sizes = {7, 9}, .axes = {-1, 2}}, {x}), (Shape{2, 3, 9, 7}));
  EXPECT_EQ(shape(ResizeOp{.aspect_ratio = AspectRatio::not_larger, .sizes = {10, 10}, .axes = {2, 3}}, {x}),
            (Shape{2, 3, 8, 10}));
  EXPECT_EQ(shape(ResizeOp{.aspect_ratio = AspectRatio::not_smaller, .sizes = {10, 10}, .axes = {2, 3}}, {x}),
            (Shape{2, 3, 10, 13}));  // 12.5 rounds up
  EXPECT_THAT(refusal(ResizeOp{}, {x}), HasSubstr("exactly one of scales and sizes"));
  EXPECT_THAT(refusal(ResizeOp{.scales = {1, 2}}, {x}),
              HasSubstr("expected 4 scales or sizes, one for each axis, got 2"));
  EXPECT_THAT(refusal(ResizeOp{.scales = {-1}, .axes = {2}}, {x}), HasSubstr("elements by -1"));
  EXPECT_THAT(refusal(ResizeOp{.scales = {0.1f}, .axes = {2}}, {x}),
              HasSubstr("the output size must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(refusal(ResizeOp{.sizes = {kHuge}, .axes = {2}}, {x}),
              HasSubstr("a size must be between 1 and 2147483648"));
  EXPECT_EQ(shape(GridSampleOp{}, {x, {2, 6, 7, 2}}), (Shape{2, 3, 6, 7}));
  EXPECT_THAT(refusal(GridSampleOp{}, {x, {1, 6, 7, 2}}), HasSubstr("does not match"));
  EXPECT_THAT(refusal(GridSampleOp{}, {x, {2, 6, 7, 3}}), HasSubstr("does not match"));
}

TEST(ModelOpShapes, AlongAxes) {
  const Shape x{2, 3, 4};
  EXPECT_EQ(shape(ReduceOp{ReduceKind::sum, {-1, 0}}, {x}), (Shape{1, 3, 1}));
  EXPECT_EQ(shape(ReduceOp{ReduceKind::sum, {-1, 0}, false}, {x}), Shape{3});
  EXPECT_EQ(shape(ReduceOp{ReduceKind::sum, {}, false}, {x}), Shape{});
  EXPECT_THAT(refusal(ReduceOp{ReduceKind::sum, {1, -2}}, {x}), HasSubstr("duplicate axis"));
  EXPECT_EQ(shape(ArgReduceOp{1, false}, {x}), (Shape{2, 4}));
  EXPECT_THAT(refusal(ArgReduceOp{3}, {x}), HasSubstr("axis 3"));
  EXPECT_EQ(shape(TopKOp{1, 2}, {x}), (Shape{2, 2, 4}));
  EXPECT_THAT(refusal(TopKOp{1, 4}, {x}), HasSubstr("k must be between 1 and"));
  EXPECT_THAT(refusal(CumSumOp{-4}, {x}), HasSubstr("axis -4"));
  EXPECT_EQ(shape(NormalizeOp{.axis = 1}, {x, {3, 4}, {4}}), x);
  EXPECT_EQ(shape(NormalizeOp{.axis = 1, .part = NormalizePart::mean}, {x}), (Shape{2, 1, 1}));
  EXPECT_THAT(refusal(NormalizeOp{.axis = 1}, {x, {3}}), HasSubstr("the scale of shape 3"));
  EXPECT_THAT(refusal(NormalizeOp{.groups = 2}, {x}), HasSubstr("channels (3) must be a multiple of groups (2)"));
  EXPECT_THAT(refusal(NormalizeOp{.groups = 3}, {x, {1}}), HasSubstr("the scale"));
  EXPECT_THAT(refusal(LrnOp{.size = 0}, {x}), HasSubstr("the size must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(refusal(LpNormalizeOp{.p = 3}, {x}), HasSubstr("p must be 1 or 2, got 3"));
}

TEST(ModelOpShapes, Rearranging) {
  EXPECT_EQ(shape(SliceOp{{1, 8}, {kHuge, -kHuge}, {0, 2}, {1, -3}}, {{3, 4, 9}}), (Shape{2, 4, 3}));
  EXPECT_THAT(refusal(SliceOp{{0}, {1}, {}, {0}}, {{3}}), HasSubstr("the step of axis 0 must not be 0"));
  EXPECT_THAT(refusal(SliceOp{{2}, {1}, {}, {}}, {{3}}), HasSubstr("is empty"));
  EXPECT_THAT(refusal(SliceOp{{0, 0}, {1, 1}, {}, {}}, {{3}}), HasSubstr("cannot slice 2 axes"));
  EXPECT_EQ(shape(ExpandOp{{2, -1, 4}}, {{3, 1}}), (Shape{2, 3, 4}));
  EXPECT_THAT(refusal(ExpandOp{{-3}}, {{3}}), HasSubstr("a size must be between 1 and 2147483648, got -3"));
  EXPECT_EQ(shape(ExpandOp{{ExpandOp::kImages, 3, 4}, 2}, {{3, 1}, {5, 7}}), (Shape{10, 3, 4}));
  EXPECT_THAT(refusal(ExpandOp{{ExpandOp::kImages}}, {{1}}), HasSubstr("the input that has it is missing"));
  EXPECT_THAT(refusal(ExpandOp{{4}}, {{1}, {5, 7}}), HasSubstr("the shape does not depend on the batch size"));
  EXPECT_THAT(refusal(ExpandOp{{ExpandOp::kImages}}, {{1}, {}}), HasSubstr("expected rank 1 or more"));
  EXPECT_THAT(refusal(TileOp{{kHuge}}, {{3}}), HasSubstr("a repeat must be between 1 and"));
  EXPECT_EQ(shape(DepthToSpaceOp{2}, {{1, 8, 3, 5}}), (Shape{1, 2, 6, 10}));
  EXPECT_EQ(shape(SpaceToDepthOp{2}, {{1, 2, 6, 10}}), (Shape{1, 8, 3, 5}));
  EXPECT_THAT(refusal(DepthToSpaceOp{kHuge}, {{1, 8, 3, 5}}), HasSubstr("the block size must be between 1 and"));
  EXPECT_EQ(shape(PadOp{PadMode::wrap, {5, 7}}, {{3}}), Shape{15});
}

TEST(ModelOpShapes, Indices) {
  const Shape x{2, 3, 4};
  EXPECT_EQ(shape(GatherOp{1}, {x, {5, 6}}), (Shape{2, 5, 6, 4}));
  EXPECT_EQ(shape(GatherOp{1}, {x, {}}), (Shape{2, 4}));
  EXPECT_EQ(shape(GatherElementsOp{1}, {x, {1, 9, 4}}), (Shape{1, 9, 4}));
  EXPECT_THAT(refusal(GatherElementsOp{1}, {x, {3, 1, 4}}), HasSubstr("do not fit"));
  EXPECT_EQ(shape(GatherNdOp{}, {x, {7, 2}}), (Shape{7, 4}));
  EXPECT_EQ(shape(GatherNdOp{1}, {x, {2, 7, 1}}), (Shape{2, 7, 4}));
  EXPECT_THAT(refusal(GatherNdOp{1}, {x, {3, 7, 1}}), HasSubstr("do not fit"));
  EXPECT_THAT(refusal(GatherNdOp{}, {x, {7, 4}}), HasSubstr("do not fit"));
  EXPECT_THAT(refusal(GatherNdOp{}, {x, {}}), HasSubstr("expected rank 1 or more"));
  EXPECT_EQ(shape(ScatterNdOp{}, {x, {5, 1}, {5, 3, 4}}), x);
  EXPECT_THAT(refusal(ScatterNdOp{}, {x, {5, 1}, {5, 3}}), HasSubstr("updates must have shape 5x3x4"));
  EXPECT_THAT(refusal(ScatterElementsOp{}, {x, {1, 3, 4}, {1, 3}}), HasSubstr("must have the shape of the indices"));
}

TEST(ModelOpShapes, SumsOfProducts) {
  EXPECT_EQ(shape(EinsumOp{"bij,bjk->bik"}, {{2, 3, 4}, {2, 4, 5}}), (Shape{2, 3, 5}));
  EXPECT_EQ(shape(EinsumOp{"...ij,...jk"}, {{7, 1, 3, 4}, {6, 4, 5}}), (Shape{7, 6, 3, 5}));
  EXPECT_EQ(shape(EinsumOp{"b a"}, {{2, 3}}), (Shape{3, 2}));
  EXPECT_EQ(shape(EinsumOp{"ij->"}, {{2, 3}}), Shape{});
  EXPECT_THAT(refusal(EinsumOp{"ij,jk->ik"}, {{2, 3}, {4, 5}}), HasSubstr("sizes 3 and 4"));
  EXPECT_THAT(refusal(EinsumOp{"ij->ik"}, {{2, 3}}), HasSubstr("index 'k'"));
  EXPECT_THAT(refusal(EinsumOp{"i1->i"}, {{2, 3}}), HasSubstr("must be letters"));
  EXPECT_THAT(refusal(EinsumOp{"...ijk->i"}, {{2, 3}}), HasSubstr("do not match the rank"));
  EXPECT_THAT(refusal(EinsumOp{""}, {{2, 3}}), HasSubstr("do not match the rank"));
}

TEST(ModelOpShapes, Quantized) {
  const Shape x{1, 3, 4, 4}, w{5, 3, 3, 3};
  const std::vector<Shape> conv{x, {}, {1}, w, {5}, {5}, {}, {}, {5}};
  EXPECT_EQ(shape(QLinearConvOp{}, conv), (Shape{1, 5, 2, 2}));
  for (size_t i = 1; i < conv.size(); ++i) {
    std::vector<Shape> wrong = conv;
    wrong[i] = {2};
    EXPECT_NE(refusal(QLinearConvOp{}, wrong), "") << i;
  }
  EXPECT_THAT(refusal(QLinearConvOp{.low = 1, .high = 0}, conv), HasSubstr("quantized range"));
  EXPECT_EQ(shape(ConvIntegerOp{}, {x, w, {}, {5}}), (Shape{1, 5, 2, 2}));
  EXPECT_EQ(shape(QuantizeOp{1}, {x, {3}, {3}}), x);
  EXPECT_EQ(shape(QuantizeOp{1, 2}, {x, {1, 2, 4, 4}}), x);
  EXPECT_THAT(refusal(QuantizeOp{1, 2}, {x, {1, 3, 4, 4}}), HasSubstr("must have shape 1x2x4x4"));
  EXPECT_THAT(refusal(DequantizeOp{2}, {x, {3}}), HasSubstr("the scale must have 4 elements, got shape 3"));
  EXPECT_EQ(shape(QLinearMatMulOp{}, {{6, 5, 4}, {5}, {5, 1}, {4, 7}, {7}, {1, 7}, {}, {}}), (Shape{6, 5, 7}));
  EXPECT_THAT(refusal(QLinearMatMulOp{}, {{5, 4}, {4}, {}, {4, 7}, {}, {}, {}, {}}), HasSubstr("a_scale"));
  EXPECT_THAT(refusal(MatMulIntegerOp{}, {{5, 4}, {4, 7}, {}, {5}}), HasSubstr("b_zero_point"));
}

TEST(ModelOpShapes, OperatorsOfPlans) {
  const Shape x{2, 8, 3, 3};
  EXPECT_EQ(shape(SqueezeExciteOp{}, {x, {4, 8, 1, 1}, {4}, {8, 4, 1, 1}, {8}}), x);
  EXPECT_THAT(refusal(SqueezeExciteOp{}, {x, {4, 9, 1, 1}, {4}, {8, 4, 1, 1}, {8}}),
              HasSubstr("input 1 must have shape 4x8x1x1, got 4x9x1x1"));
  EXPECT_THAT(refusal(SqueezeExciteOp{}, {{2, 8}, {}, {}, {}, {}}), HasSubstr("N x C x H x W"));
  EXPECT_EQ(shape(ByteAddOp{.a_zero = -128, .low = -128, .high = 127}, {x, x}), x) << "int8 before it is shifted";
  EXPECT_THAT(refusal(ByteAddOp{.low = 3, .high = 2}, {x, x}), HasSubstr("quantized range from 3 to 2 is empty"));
  EXPECT_THAT(refusal(ByteAddOp{.b_zero = 256}, {x, x}), HasSubstr("quantized values must have 8 bits, got 256"));
  EXPECT_THAT(refusal(ByteMeanOp{.x_zero = -129}, {x}), HasSubstr("got -129"));
  EXPECT_THAT(refusal(ByteConcatOp{.parts = {{1, 256}}}, {x}), HasSubstr("got 256"));
  const std::vector<Shape> conv{x, {5, 8, 3, 3}, {5}, {5}};
  EXPECT_EQ(shape(ByteConvOp{}, conv), (Shape{2, 5, 1, 1}));
  EXPECT_THAT(refusal(ByteConvOp{.sum = {.high = 256}}, conv), HasSubstr("got 256"));
}

}  // namespace
}  // namespace convlab
