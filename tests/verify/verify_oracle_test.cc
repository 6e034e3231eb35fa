// Tests the oracle, which computes expected outputs in double precision, and its input data.

#include "convlab/verify/oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "convlab/verify/cases.h"
#include "tests/support/paths.h"

namespace convlab {
namespace {

Tensor floats(Shape shape, const std::vector<float>& values) { return Tensor::of<float>(std::move(shape), values); }

Expected evaluated(const ConvStep& step, const std::vector<float>& x, const std::vector<float>& w,
                   const std::vector<float>& bias = {}) {
  ThreadPool threads(2);
  const Tensor bias_tensor = bias.empty() ? Tensor() : floats({step.problem.k}, bias);
  const Expected sums =
      convolve(step, floats(step.problem.input_shape(), x), floats(step.problem.filter_shape(), w), threads);
  return finish(step, sums, bias_tensor, Tensor(), threads);
}

using Values = std::vector<double>;

// Expected values were worked out by hand. Averages with ceil_mode also agree with PyTorch.

TEST(Oracle, CrossCorrelatesWithoutFlipping) {
  const Expected y = evaluated({parse_problem("c1h2w3_k1r2s2")}, {1, 2, 3, 4, 5, 6}, {1, 10, 100, 1000});
  EXPECT_EQ(y.shape, (Shape{1, 1, 1, 2}));
  EXPECT_EQ(y.value, (Values{1 + 20 + 400 + 5000, 2 + 30 + 500 + 6000}));
}

TEST(Oracle, ScaleIsTheSumOfSizes) {
  const Expected y = evaluated({parse_problem("c1h1w2_k1r1s2"), {.bias = true}}, {3, -4}, {2, 1}, {-5});
  EXPECT_EQ(y.value, (Values{6 - 4 - 5}));
  EXPECT_EQ(y.scale, (std::vector<float>{6 + 4 + 5}));
}

TEST(Oracle, PaddingStrideAndDilation) {
  // Row 1 2 3 4 5, padding of one on the left and two on the right. The two taps are 2 apart, and windows start at
  // padded columns 0 and 3.
  const Expected y = evaluated({parse_problem("c1h1w5_k1r1s2_p0x1x0x2_st1x3_d1x2")}, {1, 2, 3, 4, 5}, {1, 10});
  EXPECT_EQ(y.value, (Values{20, 3 + 50}));
  const Expected column = evaluated({parse_problem("c1h5w1_k1r2s1_p1x0x2x0_st3x1_d2x1")}, {1, 2, 3, 4, 5}, {1, 10});
  EXPECT_EQ(column.value, (Values{20, 3 + 50}));
}

TEST(Oracle, GroupsSeeTheirOwnChannels) {
  const Expected y = evaluated({parse_problem("c4h1w1_k2r1s1_g2")}, {1, 2, 3, 4}, {1, 10, 100, 1000});
  EXPECT_EQ(y.value, (Values{21, 4300}));
}

TEST(Oracle, ImagesAndChannelsAndMaps) {
  const Expected y = evaluated({parse_problem("n2_c2h1w1_k2r1s1")}, {1, 2, 3, 4}, {1, 10, 100, 1000});
  EXPECT_EQ(y.value, (Values{21, 2100, 43, 4300}));
}

TEST(Oracle, PixelsOfBytes) {
  ThreadPool threads(1);
  const ConvStep step{parse_problem("c1h1w2_k1r1s1"), {}, kRawPixels};
  const std::vector<uint8_t> pixels{200, 255};
  EXPECT_EQ(convolve(step, Tensor::of<uint8_t>({1, 1, 1, 2}, pixels), floats({1, 1, 1, 1}, {2}), threads).value,
            (Values{400, 510}));
}

TEST(Oracle, PoolingWindows) {
  const ConvProblem row = parse_problem("c1h1w5_k1r1s1");
  const std::vector<float> x{1, -2, 3, 4, -5};
  const auto pooled = [&](Pool pool) { return evaluated({row, {.pool = pool}}, x, {1}).value; };
  EXPECT_EQ(pooled({.kernel_w = 2, .stride_w = 2}), (Values{1, 4}));
  EXPECT_EQ(pooled({.kernel_w = 2, .stride_w = 2, .ceil_mode = true}), (Values{1, 4, -5}));
  EXPECT_EQ(pooled({.kernel_w = 3, .stride_w = 2, .pad_left = 1, .pad_right = 1}), (Values{1, 4, 4}));
  EXPECT_EQ(pooled({.kernel_w = 2, .stride_w = 1, .dilation_w = 3}), (Values{4, -2}));
  const Pool average{.kind = PoolKind::average, .kernel_w = 2, .stride_w = 2, .pad_left = 1, .pad_right = 0};
  EXPECT_EQ(pooled(average), (Values{1, 0.5, -0.5}));
  Pool counted = average;
  counted.count_include_pad = true;
  EXPECT_EQ(pooled(counted), (Values{0.5, 0.5, -0.5}));
  // torch.nn.AvgPool1d(4, 2, padding=1, ceil_mode=True, count_include_pad=...): elements past the padding never count.
  Pool ceiled{.kind = PoolKind::average,
              .kernel_w = 4,
              .stride_w = 2,
              .pad_left = 1,
              .pad_right = 1,
              .ceil_mode = true,
              .count_include_pad = true};
  EXPECT_EQ(pooled(ceiled), (Values{0.5, 0, -1 / 3.0}));
  ceiled.count_include_pad = false;
  EXPECT_EQ(pooled(ceiled), (Values{2 / 3.0, 0, -0.5}));
  EXPECT_EQ(pooled({.kind = PoolKind::average, .kernel_w = 3, .stride_w = 3, .ceil_mode = true}),
            (Values{2 / 3.0, -1 / 2.0}));
}

TEST(Oracle, Activations) {
  const ConvProblem row = parse_problem("c1h1w4_k1r1s1");
  const auto activated = [&](Activation activation) {
    return evaluated({row, {.activation = activation}}, {-2, -0.25f, 0.5f, 3}, {1}).value;
  };
  EXPECT_EQ(activated({ActivationKind::relu}), (Values{0, 0, 0.5, 3}));
  EXPECT_EQ(activated({ActivationKind::leaky_relu, 0.5f}), (Values{-1, -0.125, 0.5, 3}));
  EXPECT_EQ(activated({ActivationKind::clip, -1, 2}), (Values{-1, -0.25, 0.5, 2}));
  EXPECT_EQ(activated({ActivationKind::clip, 2, 1}), (Values{1, 1, 1, 1}));
  const Values tanh = activated({ActivationKind::tanh}), sigmoid = activated({ActivationKind::sigmoid});
  EXPECT_NEAR(tanh[0], -0.9640275800758169, 1e-14);
  EXPECT_NEAR(tanh[2], 0.46211715726000973, 1e-14);
  EXPECT_NEAR(sigmoid[0], 0.11920292202211755, 1e-14);
  EXPECT_NEAR(sigmoid[3], 0.9525741268224334, 1e-14);
}

TEST(Oracle, NanReachesItsReceptiveFieldThroughTheEpilogue) {
  ConvProblem problem = parse_problem("c1h6w6_k1r3s3");
  std::vector<float> x(36, 1);
  x[0] = NAN;
  const Pool max2x2{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  for (const Activation activation : {Activation{ActivationKind::relu}, Activation{ActivationKind::clip, 0, 1},
                                      Activation{ActivationKind::tanh}, Activation{ActivationKind::sigmoid}}) {
    for (PoolKind kind : {PoolKind::max, PoolKind::average}) {
      Pool pool = max2x2;
      pool.kind = kind;
      const Expected y = evaluated({problem, {.pool = pool, .activation = activation}}, x, std::vector<float>(9, 0));
      EXPECT_TRUE(std::isnan(y.value[0]));
      EXPECT_EQ(std::count_if(y.value.begin(), y.value.end(), [](double v) { return std::isnan(v); }), 1);
    }
  }
}

TEST(Oracle, LayersAreKeptAndShareTheirImages) {
  Oracle oracle(1);
  const ConvStep step{parse_problem("n2_c3h5w5_k2r3s3")}, other{parse_problem("n2_c3h6w5_k2r3s3")};
  const IntegerLimits limits = integer_limits(step, Math::fp32);
  const auto first = oracle.layer(step, Fill::integers, limits, 0);
  EXPECT_EQ(first, oracle.layer(step, Fill::integers, limits, 0));
  const auto second = oracle.layer(step, Fill::integers, limits, 1);
  EXPECT_EQ(first->convolved->x, second->convolved->x);
  EXPECT_NE(first->expected().value, second->expected().value);
  EXPECT_NE(first->expected().value,
            oracle.layer(step, Fill::integers, integer_limits(step, Math::fp16), 0)->expected().value);
  ConvStep pooled = step;
  pooled.epilogue.pool = Pool{.kernel_h = 2, .kernel_w = 2, .pad_top = 1};
  const auto uneven = oracle.layer(pooled, Fill::reals, {}, 0);
  pooled.epilogue.pool->pad_top = 0;  // the text form of a pooling does not contain its padding
  EXPECT_NE(uneven->expected().shape, oracle.layer(pooled, Fill::reals, {}, 0)->expected().shape);
  oracle.layer(other, Fill::reals, {}, 0);
  EXPECT_NE(first, oracle.layer(step, Fill::integers, limits, 0)) << "another problem makes room";
}

TEST(Oracle, GivesASignOfLifeForEachMap) {
  Oracle oracle(2);
  const int64_t before = oracle_progress();
  oracle.layer({parse_problem("n2_c3h5w5_k4r3s3")}, Fill::reals, {}, 0);
  EXPECT_EQ(oracle_progress(), before + 2 * 4);
}

/// Returns the largest sum of absolute values of any output's terms, which bounds every order of additions.
double largest_sum(const OracleLayer& layer) {
  return *std::max_element(layer.expected().scale.begin(), layer.expected().scale.end());
}

TEST(Fills, IntegersAreExactInEveryClass) {
  Oracle oracle(1);
  struct Class {
    Math math;
    double operand, sum;
  };
  for (const char* text : {"c1h1w1_k1r1s1", "n2_c3h9w9_k4r5s5", "c300h3w3_k2r3s3", "c70000h1w1_k2r1s1"}) {
    for (const auto& [math, operand, sum] :
         {Class{Math::fp32, 0x1p12, 0x1p24}, Class{Math::tf32, 0x1p11, 0x1p22}, Class{Math::bf16x2, 0x1p8, 0x1p22},
          Class{Math::bf16, 0x1p8, 0x1p22}, Class{Math::fp16, 0x1p8, 0x1p11}}) {
      for (const Format input : {kNchw, kRawPixels}) {
        const ConvStep step{parse_problem(text), {.bias = true}, input};
        const IntegerLimits limits = integer_limits(step, math);
        const auto layer = oracle.layer(step, Fill::integers, limits, 0);
        EXPECT_LE(largest_sum(*layer), sum) << text << " " << name_of(math);
        EXPECT_GT(largest_sum(*layer), 0);
        EXPECT_LE(std::max(limits.x, limits.w), operand);
        for (float w : layer->convolved->w.values<float>()) ASSERT_EQ(w, std::rint(w));
        for (double y : layer->expected().value) ASSERT_EQ(y, std::rint(y));
      }
    }
  }
}

TEST(Fills, IntegersOfFp32NeedMoreBitsThanLowerClassesHave) {
  const ConvStep step{parse_problem("n2_c12h9w9_k4r5s5")};
  const Tensor x = fill_images(step, Fill::integers, integer_limits(step, Math::fp32));
  const auto values = x.values<float>();
  EXPECT_TRUE(std::any_of(values.begin(), values.end(), [](float v) { return std::abs(v) > 2048; }));
}

TEST(Fills, RealsGiveSumsOfAboutOne) {
  Oracle oracle(1);
  for (const char* text : {"n2_c1h20w20_k8r5s5", "n2_c12h20w20_k8r5s5", "n2_c128h6w6_k8r3s3"}) {
    const auto layer = oracle.layer({parse_problem(text)}, Fill::reals, {}, 0);
    double squares = 0;
    for (double y : layer->expected().value) squares += y * y;
    const double deviation = std::sqrt(squares / static_cast<double>(layer->expected().value.size()));
    EXPECT_GT(deviation, 0.5) << text;
    EXPECT_LT(deviation, 2.0) << text;
  }
}

TEST(Fills, TheNanIsOneThatSomeOutputReads) {
  Oracle oracle(1);
  for (const ConvProblem& problem : read_shapes(source_folder() / "shapes/edges.txt")) {
    const auto layer = oracle.layer({problem}, Fill::one_nan, {}, 0);
    const auto x = layer->convolved->x->values<float>();
    const auto is_nan = [](auto value) { return std::isnan(value); };
    EXPECT_EQ(std::count_if(x.begin(), x.end(), is_nan), 1) << to_text(problem);
    const Values& y = layer->expected().value;
    EXPECT_GT(std::count_if(y.begin(), y.end(), is_nan), 0) << to_text(problem);
  }
}

}  // namespace
}  // namespace convlab
