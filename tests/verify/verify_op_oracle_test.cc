// Tests the expected outputs of operators against examples computed by hand or taken from ONNX's documentation.

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

#include "convlab/verify/ops/op_oracle.h"
#include "tests/verify/op_cases.h"

namespace convlab {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Input {
  Shape shape;
  std::vector<float> values;
};

/// 1, 2, 3, ...
Input counted(const Shape& shape) {
  Input input{shape, {}};
  for (int64_t i = 0; i < element_count(shape); ++i) input.values.push_back(static_cast<float>(i + 1));
  return input;
}

Expected expected_of(const Op& op, const std::vector<Input>& inputs) {
  std::vector<Shape> shapes;
  std::vector<Tensor> tensors;
  for (const Input& input : inputs) {
    shapes.push_back(input.shape);
    tensors.push_back(Tensor::of<float>(input.shape, input.values));
  }
  return expected_output(plain_step(op, shapes), tensors);
}

/// Expects these values: the same NaN, otherwise within 2e-6 relative to 1 or the value, as documents round them.
void expect_output(const Op& op, const std::vector<Input>& inputs, const std::vector<double>& wanted) {
  const Expected got = expected_of(op, inputs);
  ASSERT_EQ(got.value.size(), wanted.size()) << name_of(op);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const bool right = std::isnan(wanted[i])
                           ? std::isnan(got.value[i])
                           : got.value[i] == wanted[i] ||
                                 std::fabs(got.value[i] - wanted[i]) <= 2e-6 * std::max(1.0, std::fabs(wanted[i]));
    EXPECT_TRUE(right) << name_of(op) << ", element " << i << ": " << got.value[i] << ", expected " << wanted[i];
  }
}

void expect_function(UnaryKind kind, std::vector<float> x, const std::vector<double>& wanted, float alpha = 0,
                     float beta = 0) {
  const auto count = std::ssize(x);
  SCOPED_TRACE(fmt::format("function {}", static_cast<int>(kind)));
  expect_output(UnaryOp{kind, alpha, beta}, {{{count}, std::move(x)}}, wanted);
}

TEST(OpOracle, Activations) {
  const auto expect = [](const Activation& activation, const std::vector<double>& wanted) {
    expect_output(ActivationOp{activation}, {{{4}, {-2, 0.5f, 4, kNan}}}, wanted);
  };
  expect({ActivationKind::none}, {-2, 0.5, 4, kNan});
  expect({ActivationKind::relu}, {0, 0.5, 4, kNan});
  expect({ActivationKind::leaky_relu, 0.25f}, {-0.5, 0.5, 4, kNan});
  expect({ActivationKind::clip, -1, 3}, {-1, 0.5, 3, kNan});
  expect({ActivationKind::sigmoid}, {0.119202922, 0.622459331, 0.982013790, kNan});
  expect({ActivationKind::tanh}, {-0.964027580, 0.462117157, 0.999329300, kNan});
  expect({ActivationKind::swish}, {-0.238405844, 0.311229666, 3.92805516, kNan});
  expect({ActivationKind::hard_swish}, {-1.0 / 3, 0.5 * 3.5 / 6, 4, kNan});
}

TEST(OpOracle, FunctionsThatRound) {
  expect_function(UnaryKind::abs, {-2, kNan}, {2, kNan});
  expect_function(UnaryKind::neg, {-2, 3}, {2, -3});
  expect_function(UnaryKind::sign, {-2, 0, 3, kNan}, {-1, 0, 1, kNan});
  expect_function(UnaryKind::floor, {-1.5f, 1.5f}, {-2, 1});
  expect_function(UnaryKind::ceil, {-1.5f, 1.5f}, {-1, 2});
  // ONNX's example of Round.
  expect_function(UnaryKind::round, {0.1f, 0.5f, 0.9f, 1.2f, 1.5f, 1.8f, 2.3f, 2.5f, 2.7f, -1.1f, -1.5f, -2.5f},
                  {0, 0, 1, 1, 2, 2, 2, 2, 3, -1, -2, -2});
  expect_function(UnaryKind::truncate, {-1.5f, 1.5f}, {-1, 1});
  expect_function(UnaryKind::to_bool, {0, -2, kNan}, {0, 1, 1});
  expect_function(UnaryKind::logical_not, {0, -2, kNan}, {1, 0, 0});
  expect_function(UnaryKind::is_nan, {0, kInfinity, kNan}, {0, 0, 1});
  expect_function(UnaryKind::is_inf, {-kInfinity, kInfinity, kNan}, {0, 1, 0}, 0, 1);
  // Halfway between numbers: to even; 65520 is halfway to the first number out of range.
  expect_output(RoundOp{false}, {{{4}, {1 + 0x1p-11f, 1 + 3 * 0x1p-11f, 0x1p-25f, 65520}}},
                {1, 1 + 0x1p-9, 0, kInfinity});
  expect_output(RoundOp{true}, {{{3}, {1 + 0x1p-8f, 1 + 3 * 0x1p-8f, 3.14159265f}}}, {1, 1 + 0x1p-6, 3.140625});
}

TEST(OpOracle, SmoothFunctions) {
  expect_function(UnaryKind::reciprocal, {-4}, {-0.25});
  expect_function(UnaryKind::sqrt, {9, -1}, {3, kNan});
  expect_function(UnaryKind::exp, {0, 1}, {1, 2.718281828});
  expect_function(UnaryKind::log, {1, 10, 0}, {0, 2.302585093, -kInfinity});
  expect_function(UnaryKind::erf, {0, 1}, {0, 0.842700793});
  expect_function(UnaryKind::sin, {1}, {0.841470985});
  expect_function(UnaryKind::cos, {1}, {0.540302306});
  expect_function(UnaryKind::tan, {1}, {1.557407725});
  expect_function(UnaryKind::asin, {0.5f}, {0.523598776});
  expect_function(UnaryKind::acos, {0.5f}, {1.047197551});
  expect_function(UnaryKind::atan, {1}, {0.785398163});
  expect_function(UnaryKind::sinh, {1}, {1.175201194});
  expect_function(UnaryKind::cosh, {1}, {1.543080635});
  expect_function(UnaryKind::asinh, {1}, {0.881373587});
  expect_function(UnaryKind::acosh, {2}, {1.316957897});
  expect_function(UnaryKind::atanh, {0.5f}, {0.549306144});
  expect_function(UnaryKind::softplus, {0, -100, 100}, {0.693147181, 3.720076e-44, 100});
  expect_function(UnaryKind::softsign, {-1, 3}, {-0.5, 0.75});
  // ONNX's examples of Elu, Selu, Celu, HardSigmoid, ThresholdedRelu and Shrink.
  expect_function(UnaryKind::elu, {-1, 0, 1}, {-1.26424112, 0, 1}, 2);
  expect_function(UnaryKind::selu, {-1, 0, 1}, {-3.79272336, 0, 3}, 2, 3);
  expect_function(UnaryKind::celu, {-1, 0, 1}, {-0.786938681, 0, 1}, 2);
  expect_function(UnaryKind::celu, {-1, 1}, {2 - 2 * std::exp(0.5), 1}, -2);
  expect_function(UnaryKind::hard_sigmoid, {-1, 0, 1}, {0.1, 0.6, 1}, 0.5f, 0.6f);
  expect_function(UnaryKind::hard_swish, {-4, 0, 1, 4}, {0, 0, 2.0 / 3, 4});
  expect_function(UnaryKind::mish, {1, 30}, {0.865098388, 30});
  expect_function(UnaryKind::swish, {3, -2}, {2.96703917, -0.0948517463}, 1.5f);
  expect_function(UnaryKind::gelu, {-1, 0, 1}, {-0.15865526, 0, 0.84134474});
  expect_function(UnaryKind::gelu_tanh, {-1, 0, 1}, {-0.158808009, 0, 0.841191991});
  expect_function(UnaryKind::thresholded_relu, {-1.5f, 0, 2.2f, 2, kNan}, {0, 0, 2.2f, 0, 0}, 2);
  expect_function(UnaryKind::shrink, {-2, -1, 0, 1, 2}, {-0.5, 0, 0, 0, 0.5}, 1.5f, 1.5f);
}

TEST(OpOracle, FunctionsOfTwoNumbers) {
  const auto expect = [](BinaryKind kind, std::vector<float> a, std::vector<float> b,
                         const std::vector<double>& wanted) {
    const auto count = std::ssize(a);
    SCOPED_TRACE(fmt::format("function {}", static_cast<int>(kind)));
    expect_output(BinaryOp{kind}, {{{count}, std::move(a)}, {{count}, std::move(b)}}, wanted);
  };
  expect(BinaryKind::subtract, {1, 2}, {3, 2}, {-2, 0});
  expect(BinaryKind::divide, {1, 6}, {4, -3}, {0.25, -2});
  expect(BinaryKind::minimum, {1, kNan, 1}, {2, 1, kNan}, {1, kNan, kNan});
  expect(BinaryKind::maximum, {1, kNan, 1}, {2, 1, kNan}, {2, kNan, kNan});
  expect(BinaryKind::power, {2, -2, kNan}, {10, 3, 0}, {1024, -8, 1});
  // ONNX's example of Mod, with both signs.
  expect(BinaryKind::modulo, {-4, 7, 5, 4, -7, 8}, {2, -3, 8, -2, 3, 5}, {0, -2, 5, 0, 2, 3});
  expect(BinaryKind::fmod, {-4.3f, 7.2f, 5, 4.3f, -7.2f, 8}, {2.1f, -3.4f, 8, -2.1f, 3.4f, 5},
         {-0.1, 0.4, 5, 0.1, -0.4, 3});
  expect(BinaryKind::equal, {1, 1, kNan}, {1, 2, kNan}, {1, 0, 0});
  expect(BinaryKind::greater, {1, 2, 1}, {1, 1, 2}, {0, 1, 0});
  expect(BinaryKind::greater_equal, {1, 2, 1}, {1, 1, 2}, {1, 1, 0});
  expect(BinaryKind::less, {1, 2, 1}, {1, 1, 2}, {0, 0, 1});
  expect(BinaryKind::less_equal, {1, 2, 1}, {1, 1, 2}, {1, 0, 1});
  expect(BinaryKind::logical_and, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1});
  expect(BinaryKind::logical_or, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 1});
  expect(BinaryKind::logical_xor, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0});
  expect(BinaryKind::prelu, {-2, 3}, {0.5f, 0.5f}, {-1, 3});
  // Broadcasting: a column and a row.
  expect_output(AddOp{}, {{{2, 1}, {10, 20}}, {{3}, {1, 2, 3}}}, {11, 12, 13, 21, 22, 23});
  expect_output(MulOp{}, {{{2, 1}, {10, 20}}, {{3}, {1, 2, 3}}}, {10, 20, 30, 20, 40, 60});
  expect_output(WhereOp{}, {{{2, 1}, {1, 0}}, {{2}, {1, 2}}, {{1}, {9}}}, {1, 2, 9, 9});
}

TEST(OpOracle, Normalization) {
  expect_output(BatchNormOp{0}, {{{1, 2, 2}, {1, 2, 3, 4}}, {{2}, {2, 3}}, {{2}, {1, 0}}, {{2}, {1, 1}}, {{2}, {4, 1}}},
                {1, 2, 6, 9});
  // Mean 2 and deviation sqrt(2/3) of 1, 2, 3.
  const double root = std::sqrt(1.5);
  expect_output(NormalizeOp{.axis = 1, .epsilon = 0}, {{{1, 3}, {1, 2, 3}}, {{3}, {1, 1, 2}}, {{3}, {0, 5, 1}}},
                {-root, 5, 2 * root + 1});
  expect_output(NormalizeOp{.axis = 1, .epsilon = 0, .part = NormalizePart::mean}, {{{2, 3}, {1, 2, 3, 4, 5, 9}}},
                {2, 6});
  expect_output(NormalizeOp{.axis = 1, .epsilon = 0, .part = NormalizePart::inverse_deviation}, {{{1, 3}, {1, 2, 3}}},
                {root});
  // The root mean square of 1 and 7 is 5.
  expect_output(NormalizeOp{.axis = -1, .epsilon = 0, .center = false}, {{{2}, {1, 7}}}, {0.2, 1.4});
  // Two groups of two channels.
  expect_output(NormalizeOp{.groups = 2, .epsilon = 0},
                {{{1, 4, 1}, {1, 3, 10, 30}}, {{4}, {1, 2, 1, 1}}, {{4}, {0, 0, 0, 5}}}, {-1, 2, -1, 6});
  expect_output(LpNormalizeOp{0, 2}, {{{2, 1}, {3, -4}}}, {0.6, -0.8});
  expect_output(LpNormalizeOp{0, 1}, {{{2, 1}, {3, -5}}}, {0.375, -0.625});
  // 3 of 4 channels: 1 / (1 + (3 / 3) * squares)^1.
  expect_output(LrnOp{.alpha = 3, .beta = 1, .bias = 1, .size = 3}, {{{1, 4, 1}, {1, 2, 3, 4}}},
                {1.0 / 6, 2.0 / 15, 3.0 / 30, 4.0 / 26});
  // ONNX's examples of Softmax and LogSoftmax.
  expect_output(SoftmaxOp{}, {{{1, 3}, {-1, 0, 1}}}, {0.09003058, 0.24472848, 0.66524094});
  expect_output(SoftmaxOp{-1, true}, {{{1, 3}, {-1, 0, 1}}}, {-2.4076061, -1.407606, -0.40760604});
  expect_output(SoftmaxOp{0, false, true}, {{{2, 2}, {0, 0, 0, 0}}}, {0.25, 0.25, 0.25, 0.25});
  expect_output(SoftmaxOp{}, {{{2, 2}, {kNan, 0, 0, 0}}}, {kNan, kNan, 0.5, 0.5});
}

TEST(OpOracle, Reductions) {
  const Input x{{2, 3}, {1, 2, 3, 4, 5, -6}};
  const auto expect = [&](ReduceKind kind, std::vector<int64_t> axes, const std::vector<double>& wanted) {
    expect_output(ReduceOp{kind, std::move(axes)}, {x}, wanted);
  };
  expect(ReduceKind::sum, {1}, {6, 3});
  expect(ReduceKind::sum, {0}, {5, 7, -3});
  expect(ReduceKind::sum, {}, {9});
  expect(ReduceKind::mean, {1}, {2, 1});
  expect(ReduceKind::max, {1}, {3, 5});
  expect(ReduceKind::min, {-1}, {1, -6});
  expect(ReduceKind::prod, {1}, {6, -120});
  expect(ReduceKind::l1, {1}, {6, 15});
  expect(ReduceKind::l2, {1}, {std::sqrt(14), std::sqrt(77)});
  expect(ReduceKind::log_sum, {1}, {std::log(6), std::log(3)});
  expect(
      ReduceKind::log_sum_exp, {0},
      {std::log(std::exp(1) + std::exp(4)), std::log(std::exp(2) + std::exp(5)), std::log(std::exp(3) + std::exp(-6))});
  expect(ReduceKind::sum_square, {1}, {14, 77});
  expect_output(ReduceOp{ReduceKind::max, {1}}, {{{2, 2}, {1, kNan, 1, 2}}}, {kNan, 2});
  const Input ties{{2, 4}, {1, 3, 3, 0, 2, kNan, 9, kNan}};
  expect_output(ArgReduceOp{.axis = 1}, {ties}, {1, 1});
  expect_output(ArgReduceOp{.axis = 1, .last = true}, {ties}, {2, 3});
  expect_output(ArgReduceOp{.axis = 1, .largest = false}, {ties}, {3, 1});
  // ONNX's examples of TopK, along rows.
  const Input rows{{3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 11, 10, 9, 8}};
  expect_output(TopKOp{1, 3}, {rows}, {3, 2, 1, 7, 6, 5, 11, 10, 9});
  expect_output(TopKOp{1, 3, false}, {rows}, {0, 1, 2, 4, 5, 6, 8, 9, 10});
  expect_output(TopKOp{1, 3, true, true, true}, {rows}, {3, 2, 1, 3, 2, 1, 0, 1, 2});
  expect_output(TopKOp{1, 3, true, true, true}, {ties}, {1, 2, 0, 1, 3, 2});
  // ONNX's examples of CumSum.
  const Input five{{5}, {1, 2, 3, 4, 5}};
  expect_output(CumSumOp{}, {five}, {1, 3, 6, 10, 15});
  expect_output(CumSumOp{0, true}, {five}, {0, 1, 3, 6, 10});
  expect_output(CumSumOp{0, false, true}, {five}, {15, 14, 12, 9, 5});
  expect_output(CumSumOp{0, true, true}, {five}, {14, 12, 9, 5, 0});
  expect_output(ArgMaxOp{}, {{{3, 3}, {1, 5, 5, kNan, 1, 2, kInfinity, 1, 1}}}, {1, kNan, 0});
  expect_output(ArgMaxOp{true}, {{{2, 2}, {kInfinity, 1, 2, 3}}}, {kNan, 1});
}

TEST(OpOracle, Windows) {
  // ONNX's examples on 1 .. 25: AveragePool and MaxPool of 5x5 windows with a padding of 2.
  const Input x = counted({1, 1, 5, 5});
  Pool padded{.kernel_h = 5, .kernel_w = 5, .pad_top = 2, .pad_left = 2, .pad_bottom = 2, .pad_right = 2};
  expect_output(PoolOp{padded}, {x},
                {13, 14, 15, 15, 15, 18, 19, 20, 20, 20, 23, 24, 25, 25, 25, 23, 24, 25, 25, 25, 23, 24, 25, 25, 25});
  padded.kind = PoolKind::average;
  expect_output(PoolOp{padded}, {x}, {7,    7.5, 8,    8.5, 9,    9.5, 10,   10.5, 11,   11.5, 12,   12.5, 13,
                                      13.5, 14,  14.5, 15,  15.5, 16,  16.5, 17,   17.5, 18,   18.5, 19});
  padded.count_include_pad = true;
  const Expected average = expected_of(PoolOp{padded}, {x});
  EXPECT_NEAR(average.value[0], 2.52, 1e-9);  // ONNX's documentation has 2.5200
  EXPECT_NEAR(average.value[1], 3.6, 1e-9);
  // MaxPool with SAME_UPPER, strides of 2 and 3x3 windows.
  expect_output(PoolOp{{.kernel_h = 3, .kernel_w = 3, .stride_h = 2, .stride_w = 2}, AutoPad::same_upper}, {x},
                {7, 9, 10, 17, 19, 20, 22, 24, 25});
  // MaxPool with ceil_mode, and dilation.
  const Input four = counted({1, 1, 4, 4});
  expect_output(PoolOp{{.kernel_h = 3, .kernel_w = 3, .stride_h = 2, .stride_w = 2, .ceil_mode = true}}, {four},
                {11, 12, 15, 16});
  expect_output(PoolOp{{.kernel_h = 2, .kernel_w = 2, .dilation_h = 2, .dilation_w = 2}}, {four}, {11, 12, 15, 16});
  // ONNX's example: the indices of MaxPool with strides, in columns.
  expect_output(
      MaxPoolIndicesOp{.pool = {.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2}, .columns_first = true},
      {x}, {6, 16, 8, 18});
  expect_output(MaxPoolIndicesOp{.pool = {.kernel_h = 1, .kernel_w = 2, .stride_w = 2}},
                {{{1, 1, 1, 4}, {3, 3, 1, kNan}}}, {0, 3});
  // ONNX's examples of MaxUnpool.
  const Pool two{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  const Input maxima{{1, 1, 2, 2}, {1, 2, 3, 4}}, places{{1, 1, 2, 2}, {5, 7, 13, 15}};
  expect_output(MaxUnpoolOp{.pool = two}, {maxima, places}, {0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4});
  const Expected larger = expected_of(MaxUnpoolOp{two, {1, 1, 5, 5}}, {maxima, places});
  EXPECT_EQ(larger.value[6], 1);
  EXPECT_EQ(larger.value[18], 4);
  expect_output(LpPoolOp{.pool = {.kernel_h = 1, .kernel_w = 2}, .p = 2}, {{{1, 1, 1, 3}, {3, -4, 0}}}, {5, 4});
  expect_output(LpPoolOp{.pool = {.kernel_h = 1, .kernel_w = 2}, .p = 3}, {{{1, 1, 1, 2}, {1, -2}}}, {std::cbrt(9)});
  expect_output(GlobalAveragePoolOp{}, {counted({1, 1, 3, 3})}, {5});
  // Blocks of 1 x 2 pixels at (0, 0) and (0, 1) share a pixel.
  expect_output(Col2ImOp{.image_w = 3, .block_w = 2}, {{{1, 2, 2}, {1, 2, 3, 4}}}, {1, 5, 4});
  expect_output(Col2ImOp{.image_w = 2, .block_w = 2, .stride_w = 2, .pad_left = 1, .pad_right = 1},
                {{{1, 2, 2}, {1, 2, 3, 4}}}, {3, 2});
}

TEST(OpOracle, Sampling) {
  using enum SampleMode;
  using enum ResizeCoordinates;
  const Input two = counted({1, 1, 2, 2}), wide = counted({1, 1, 2, 4}), four = counted({1, 1, 4, 4});
  // ONNX's examples of Resize.
  expect_output(ResizeOp{.mode = linear, .scales = {1, 1, 2, 2}}, {two},
                {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
  expect_output(ResizeOp{.scales = {1, 1, 0.6f, 0.6f}}, {wide}, {1, 3});
  expect_output(ResizeOp{.scales = {1, 1, 2, 3}}, {two},
                {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4});
  expect_output(ResizeOp{.mode = linear,
                         .coordinates = tf_crop_and_resize,
                         .sizes = {1, 1, 3, 3},
                         .roi = {0, 0, 0.4f, 0.6f, 1, 1, 0.6f, 0.8f}},
                {four}, {7.6, 7.9, 8.2, 8.8, 9.1, 9.4, 10, 10.3, 10.6});
  expect_output(ResizeOp{.mode = linear, .antialias = true, .scales = {1, 1, 0.6f, 0.6f}}, {four},
                {2.875, 4.5, 9.375, 11});
  expect_output(ResizeOp{.mode = cubic, .antialias = true, .scales = {1, 1, 0.6f, 0.6f}}, {four},
                {2.5180721, 4.2858863, 9.589329, 11.357142});
  // Without elements outside, none is left for the last column, at coordinate 1.5 / 0.75 = 2.
  ResizeOp narrow{.mode = linear, .coordinates = tf_half_pixel_for_nn, .sizes = {3, 2}};
  narrow.aspect_ratio = AspectRatio::not_larger;
  narrow.exclude_outside = true;
  narrow.extrapolation_value = 7;
  expect_output(narrow, {counted({4, 2})}, {3, 7, 17.0 / 3, 7, 23.0 / 3, 7});
  const Expected row = expected_of(ResizeOp{.mode = cubic, .scales = {1, 1, 2, 2}}, {four});
  EXPECT_EQ(row.value[0], 0.47265625);
  EXPECT_EQ(row.value[7], 3.68359375);
  // ONNX's example of GridSample, bilinear, zeros.
  const Input image{{1, 1, 3, 2}, {0, 1, 2, 3, 4, 5}};
  const Input grid{{1, 2, 4, 2}, {-10, -10, -5, -5, -0.2f, -0.2f, 10, 10, 10, 10, -0.2f, -0.2f, 5, 5, 10, 10}};
  expect_output(GridSampleOp{}, {image, grid}, {0, 0, 1.7, 0, 0, 1.7, 0, 0});
  expect_output(GridSampleOp{nearest}, {image, grid}, {0, 0, 2, 0, 0, 2, 0, 0});
  expect_output(GridSampleOp{linear, SamplePadding::border}, {image, grid}, {0, 0, 1.7, 5, 5, 1.7, 5, 5});
  expect_output(GridSampleOp{linear, SamplePadding::reflection}, {image, grid}, {2.5, 0, 1.7, 2.5, 2.5, 1.7, 5, 2.5});
  expect_output(GridSampleOp{linear, SamplePadding::zeros, true}, {image, grid}, {0, 0, 2, 0, 0, 2, 0, 0});
}

TEST(OpOracle, Products) {
  // ONNX's example of ConvTranspose: 0 .. 8, filters of ones.
  const Input ones{{1, 2, 3, 3}, std::vector<float>(18, 1)};
  Input x = counted({1, 1, 3, 3});
  for (float& value : x.values) value -= 1;
  const std::vector<double> map{0, 1, 3, 3, 2, 3, 8, 15, 12, 7, 9, 21, 36, 27, 15, 9, 20, 33, 24, 13, 6, 13, 21, 15, 8};
  std::vector<double> both = map;
  both.insert(both.end(), map.begin(), map.end());
  expect_output(ConvTransposeOp{}, {x, ones}, both);
  expect_output(ConvTransposeOp{.stride_w = 2, .groups = 2},
                {{{1, 2, 1, 2}, {1, 2, 3, 4}}, {{2, 1, 1, 2}, {1, 10, 1, 10}}, {{2}, {0, 100}}},
                {1, 10, 2, 20, 103, 130, 104, 140});
  expect_output(ConvOp{}, {{{1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}}, {{1, 1, 2, 2}, {1, 10, 100, 1000}}, {{1}, {-1}}},
                {5420, 6531});
  const Input a{{2, 2}, {1, 2, 3, 4}}, b{{2, 2}, {1, 10, 100, 1000}};
  expect_output(GemmOp{}, {a, b}, {201, 2010, 403, 4030});
  expect_output(GemmOp{.alpha = 2, .beta = -1, .transpose_a = true, .transpose_b = true}, {a, b, {{2}, {1, 2}}},
                {2 * 31 - 1, 2 * 3100 - 2, 2 * 42 - 1, 2 * 4200 - 2});
  EXPECT_EQ(expected_of(GemmOp{}, {{{1, 2}, {3, -4}}, {{2, 1}, {2, 1}}}).scale, (std::vector<float>{10}));
  expect_output(MatMulOp{}, {{{2}, {1, 2}}, b}, {201, 2010});
  expect_output(MatMulOp{}, {b, {{2}, {1, 2}}}, {21, 2100});
  expect_output(MatMulOp{}, {{{2, 1, 2}, {1, 2, 3, 4}}, {{2, 1}, {1, 10}}}, {21, 43});
  expect_output(EinsumOp{"ij,jk->ik"}, {a, b}, {201, 2010, 403, 4030});
  expect_output(EinsumOp{"ij->ji"}, {a}, {1, 3, 2, 4});
  expect_output(EinsumOp{"ii"}, {a}, {5});
  // The activation of a product, which keeps its scale.
  Step step = plain_step(GemmOp{}, {{1, 2}, {2, 1}});
  step.epilogue.activation = {ActivationKind::relu};
  const std::vector<Tensor> inputs = [] {
    std::vector<Tensor> tensors;
    tensors.push_back(Tensor::of<float>({1, 2}, std::vector<float>{1, -2}));
    tensors.push_back(Tensor::of<float>({2, 1}, std::vector<float>{3, 4}));
    return tensors;
  }();
  const Expected positive = expected_output(step, inputs);
  EXPECT_EQ(positive.value, (std::vector<double>{0}));
  EXPECT_EQ(positive.scale, (std::vector<float>{11}));
}

TEST(OpOracle, Rearrangements) {
  const Input x = counted({2, 3});
  expect_output(ConcatOp{1}, {x, {{2, 1}, {7, 8}}}, {1, 2, 3, 7, 4, 5, 6, 8});
  expect_output(FlattenOp{}, {x}, {1, 2, 3, 4, 5, 6});
  expect_output(ReshapeOp{{3, 2}}, {x}, {1, 2, 3, 4, 5, 6});
  expect_output(SqueezeOp{}, {counted({1, 3, 1})}, {1, 2, 3});
  expect_output(UnsqueezeOp{{0}}, {counted({3})}, {1, 2, 3});
  expect_output(TransposeOp{}, {x}, {1, 4, 2, 5, 3, 6});
  expect_output(TransposeOp{{1, 2, 0}}, {counted({2, 1, 3})}, {1, 4, 2, 5, 3, 6});
  const Input row = counted({4});
  expect_output(PadOp{PadMode::constant, {1, 2}, 9}, {row}, {9, 1, 2, 3, 4, 9, 9});
  expect_output(PadOp{PadMode::reflect, {2, 1}}, {row}, {3, 2, 1, 2, 3, 4, 3});
  expect_output(PadOp{PadMode::edge, {2, 1}}, {row}, {1, 1, 1, 2, 3, 4, 4});
  expect_output(PadOp{PadMode::wrap, {2, 1}}, {row}, {3, 4, 1, 2, 3, 4, 1});
  expect_output(PadOp{PadMode::edge, {-1, 2}}, {row}, {2, 3, 4, 4, 4});
  expect_output(SliceOp{{-1}, {-9}, {0}, {-2}}, {row}, {4, 2});
  expect_output(SliceOp{{1}, {99}, {1}}, {x}, {2, 3, 5, 6});
  expect_output(ExpandOp{{2, 2}}, {{{2, 1}, {1, 2}}}, {1, 1, 2, 2});
  expect_output(TileOp{{1, 2}}, {x}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  expect_output(DepthToSpaceOp{2}, {counted({1, 4, 1, 1})}, {1, 2, 3, 4});
  // Two output channels: DCR has a pixel's block in channels 0, 2, 4, 6; CRD in channels 0 .. 3.
  expect_output(DepthToSpaceOp{2}, {counted({1, 8, 1, 1})}, {1, 3, 5, 7, 2, 4, 6, 8});
  expect_output(DepthToSpaceOp{2, true}, {counted({1, 8, 1, 1})}, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_output(SpaceToDepthOp{2}, {counted({1, 1, 2, 4})}, {1, 3, 2, 4, 5, 7, 6, 8});
  expect_output(TriluOp{}, {x}, {1, 2, 3, 0, 5, 6});
  expect_output(TriluOp{false, -1}, {counted({3, 3})}, {0, 0, 0, 4, 0, 0, 7, 8, 0});
}

TEST(OpOracle, GatherAndScatter) {
  // ONNX's examples.
  const Input x{{3, 2}, {1, 1.25f, 2.25f, 3.5f, 4.5f, 5.75f}};
  expect_output(GatherOp{}, {x, {{2, 2}, {0, 1, 1, -1}}}, {1, 1.25, 2.25, 3.5, 2.25, 3.5, 4.5, 5.75});
  expect_output(GatherOp{1}, {counted({3, 3}), {{1, 2}, {0, 2}}}, {1, 3, 4, 6, 7, 9});
  expect_output(GatherElementsOp{1}, {counted({2, 2}), {{2, 2}, {0, 0, 1, 0}}}, {1, 1, 4, 3});
  expect_output(GatherElementsOp{0}, {counted({3, 3}), {{2, 3}, {-2, -1, -3, -1, -3, -3}}}, {4, 8, 3, 7, 2, 3});
  expect_output(GatherNdOp{}, {counted({2, 2}), {{2, 2}, {0, 0, 1, 1}}}, {1, 4});
  expect_output(GatherNdOp{}, {counted({2, 2}), {{2, 1}, {1, 0}}}, {3, 4, 1, 2});
  expect_output(GatherNdOp{1}, {counted({2, 2, 2}), {{2, 1}, {1, 0}}}, {3, 4, 5, 6});
  const Input row = counted({1, 5}), at{{1, 2}, {1, -2}}, same{{1, 2}, {1, 1}}, updates{{1, 2}, {1.5f, 2.5f}};
  expect_output(ScatterElementsOp{1}, {row, at, updates}, {1, 1.5, 3, 2.5, 5});
  expect_output(ScatterElementsOp{1, ScatterReduction::add}, {row, same, updates}, {1, 6, 3, 4, 5});
  expect_output(ScatterElementsOp{1, ScatterReduction::mul}, {row, same, updates}, {1, 7.5, 3, 4, 5});
  expect_output(ScatterElementsOp{1, ScatterReduction::max}, {row, same, updates}, {1, 2.5, 3, 4, 5});
  expect_output(ScatterElementsOp{1, ScatterReduction::min}, {row, same, updates}, {1, 1.5, 3, 4, 5});
  expect_output(ScatterNdOp{}, {counted({8}), {{4, 1}, {4, 3, 1, -1}}, {{4}, {9, 10, 11, 12}}},
                {1, 11, 3, 10, 9, 6, 7, 12});
  expect_output(ScatterNdOp{ScatterReduction::add}, {counted({2, 2}), {{2, 1}, {0, 0}}, {{2, 2}, {1, 2, 3, 4}}},
                {5, 8, 3, 4});
}

TEST(OpOracle, Quantization) {
  const Input one{{}, {1}}, zero{{}, {0}};
  // ONNX's example of QuantizeLinear.
  expect_output(QuantizeOp{}, {{{6}, {0, 2, 3, 1000, -254, -1000}}, {{}, {2}}, {{}, {128}}},
                {128, 129, 130, 255, 1, 0});
  // -0.5 becomes 0 before the zero point is added.
  expect_output(QuantizeOp{.low = -128, .high = 127}, {{{4}, {-1, 1, 3, kNan}}, {{}, {2}}, {{}, {1}}}, {1, 1, 3, kNan});
  expect_output(DequantizeOp{}, {{{4}, {0, 3, 128, 255}}, {{}, {2}}, {{}, {128}}}, {-256, -250, 0, 254});
  expect_output(DequantizeOp{.axis = 1}, {{{1, 2, 1}, {4, 4}}, {{2}, {2, 3}}, {{2}, {1, 2}}}, {6, 6});
  expect_output(DequantizeOp{.axis = 1, .block_size = 2}, {{{1, 3}, {1, 2, 3}}, {{1, 2}, {2, 10}}}, {2, 4, 30});
  expect_output(ConvIntegerOp{{.pad_left = 1}}, {{{1, 1, 1, 2}, {3, 4}}, {{1, 1, 1, 2}, {5, 7}}, {{}, {1}}, {{1}, {4}}},
                {2 * 3, 2 * 1 + 3 * 3});
  expect_output(QLinearConvOp{},
                {{{1, 1, 1, 2}, {3, 4}},
                 {{}, {0.5f}},
                 {{}, {1}},
                 {{1, 1, 1, 2}, {5, 7}},
                 {{}, {2}},
                 {{}, {4}},
                 {{}, {4}},
                 {{}, {10}},
                 {{1}, {-1}}},
                {12});  // (2 * 1 + 3 * 3 - 1) / 4 is halfway between 2 and 3
  expect_output(MatMulIntegerOp{}, {{{1, 2}, {11, 7}}, {{2, 1}, {1, 4}}, {{}, {12}}}, {-1 - 20});
  // ONNX's example of QLinearMatMul.
  expect_output(QLinearMatMulOp{},
                {{{2, 4}, {208, 236, 0, 238, 3, 214, 255, 29}},
                 {{1}, {0.0066f}},
                 {{1}, {113}},
                 {{4, 3}, {152, 51, 244, 60, 26, 255, 0, 127, 246, 127, 254, 247}},
                 {{1}, {0.00705f}},
                 {{1}, {114}},
                 {{1}, {0.0107f}},
                 {{1}, {118}}},
                {168, 115, 255, 1, 66, 151});
}

TEST(OpOracle, BytesOfPlans) {
  const ByteAddOp sum{.a_factor = 0.5f, .b_factor = 2, .a_zero = 10, .b_zero = 20, .zero = 100, .low = 90, .high = 110};
  // 0.5 rounds to 0, 1.5 to 2, and results saturate.
  expect_output(sum, {{{4}, {11, 13, 10, 10}}, {{4}, {20, 20, 255, 0}}}, {100, 102, 110, 90});
  ByteConvOp conv{.conv = {.pad_left = 1}, .x_zero = 1, .zero = 50};
  const std::vector<Input> inputs{{{1, 1, 1, 2}, {3, 4}}, {{1, 1, 1, 2}, {-5, 7}}, {{1}, {0.25f}}, {{1}, {4}}};
  // (14 + 4) / 4 = 4.5; (-10 + 21 + 4) / 4 = 3.75
  expect_output(conv, inputs, {54, 54});
  conv.adds = true;
  conv.sum = {.a_factor = 1, .b_factor = 1, .a_zero = 50, .b_zero = 10, .zero = 60};
  std::vector<Input> with_added = inputs;
  with_added.push_back({{1, 1, 1, 2}, {10, 30}});
  expect_output(conv, with_added, {64, 84});
  expect_output(ByteMeanOp{.factor = 2, .x_zero = 1, .zero = 5}, {counted({1, 1, 2, 2})}, {8});  // 3, of mean 1.5
  expect_output(ByteConcatOp{.parts = {{1, 2}, {0.5f, 0}}, .scale = 0.5f, .zero = 10},
                {{{1, 1, 1, 1}, {5}}, {{1, 1, 1, 1}, {7}}}, {16, 17});
}

TEST(OpOracle, OthersOfPlans) {
  Step scale = plain_step(ScaleOp{2}, {{1, 1, 4, 4}});
  std::vector<Tensor> image;
  image.push_back(converted(Tensor::of<float>({1, 1, 4, 4}, counted({1, 1, 4, 4}).values), ElementType::u8));
  // Centers of 2x2 pixels: means 3.5, 5.5, 11.5 and 13.5, truncated.
  EXPECT_EQ(expected_output(scale, image).value, (std::vector<double>{3, 5, 11, 13}));
  // Gates: mean 2; 2 * 3 - 1 = 5; 5 * 0.5 + 1 = 3.5.
  const SqueezeExciteOp gate{{ActivationKind::relu}, {ActivationKind::none}};
  expect_output(gate, {{{1, 1, 1, 2}, {1, 3}}, {{1, 1, 1, 1}, {3}}, {{1}, {-1}}, {{1, 1, 1, 1}, {0.5f}}, {{1}, {1}}},
                {3.5, 10.5});
}

TEST(OpOracle, ImagesHaveFourSizes) {
  const auto shape_of = [](const Shape& shape) { return as_images({shape, {}, {}}).shape; };
  EXPECT_EQ(shape_of({}), (Shape{1, 1, 1, 1}));
  EXPECT_EQ(shape_of({2, 3}), (Shape{2, 3, 1, 1}));
  EXPECT_EQ(shape_of({2, 3, 4, 5, 6}), (Shape{2, 3, 4, 30}));
}

}  // namespace
}  // namespace convlab
