// Tests comparison of outputs with expected values: tolerances, NaN and rounding error models.

#include "convlab/verify/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/rng.h"
#include "convlab/device/thread_pool.h"

namespace convlab {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Expected outputs(const std::vector<double>& value, float scale = 1) {
  return {{1, 1, 1, static_cast<int64_t>(value.size())}, value, std::vector<float>(value.size(), scale)};
}

Verdict judged(const std::vector<double>& expected, const std::vector<float>& got, double tolerance = 0) {
  return compare(outputs(expected), got, {.absolute = tolerance, .relative_l2 = 1});
}

TEST(Compare, ExactIsExact) {
  EXPECT_TRUE(judged({1, -2, 0}, {1, -2, -0.0f}).passed());
  const Verdict verdict = judged({1, -2, 3}, {1, -2, 3.0000002f});
  EXPECT_EQ(verdict.wrong, 1);
  EXPECT_EQ(verdict.first.q, 2);
}

TEST(Compare, ToleranceIsIncluded) {
  EXPECT_TRUE(judged({1}, {1.5f}, 0.5).passed());
  EXPECT_FALSE(judged({1}, {1.5f}, 0.4999).passed());
  const ErrorModel relative{.per_value = 0.5, .relative_l2 = 1};
  EXPECT_TRUE(compare(outputs({-4}), std::vector<float>{-6}, relative).passed());
  EXPECT_FALSE(compare(outputs({-4}), std::vector<float>{-6.5f}, relative).passed());
  const ErrorModel sized{.per_scale = 0.25, .slope = 2, .relative_l2 = 1};
  EXPECT_TRUE(compare(outputs({0}, 2), std::vector<float>{1}, sized).passed());
  EXPECT_FALSE(compare(outputs({0}, 1.9f), std::vector<float>{1}, sized).passed());
}

TEST(Compare, NanNeverPassesWhateverTheTolerance) {
  EXPECT_FALSE(judged({1}, {kNan}, 1e30).passed());
  EXPECT_FALSE(judged({kNan}, {kNan}, 1e30).passed());
  EXPECT_FALSE(judged({kNan}, {1}, 1e30).passed());
  EXPECT_FALSE(judged({1}, {1}, kNan).passed());
  EXPECT_FALSE(compare(outputs({1}), std::vector<float>{1.1f}, {.absolute = 1, .relative_l2 = kNan}).passed());
}

TEST(Compare, InfinityEqualsItselfOnly) {
  EXPECT_TRUE(judged({kInf, -kInf}, {kInf, -kInf}).passed());
  EXPECT_FALSE(judged({kInf}, {-kInf}, 1e30).passed());
  EXPECT_FALSE(judged({kInf}, {3e38f}, 1e30).passed());
  EXPECT_FALSE(judged({3e38}, {kInf}, 1e30).passed());
}

TEST(Compare, FirstAndWorstCarryTheirPlaces) {
  Expected expected{{2, 2, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7}, std::vector<float>(8, 1)};
  const std::vector<float> got{0, 1, 2, 4, 4, 5, 6, 10};
  const Verdict verdict = compare(expected, got, {.relative_l2 = 1});
  EXPECT_EQ(verdict.wrong, 2);
  EXPECT_EQ(verdict.count, 8);
  const OutputElement &first = verdict.first, &worst = verdict.worst;
  EXPECT_EQ((std::array{first.n, first.k, first.p, first.q}), (std::array<int64_t, 4>{0, 1, 0, 1}));
  EXPECT_EQ((std::array{worst.n, worst.k, worst.p, worst.q}), (std::array<int64_t, 4>{1, 1, 0, 1}));
  EXPECT_EQ(worst.expected, 7);
  EXPECT_EQ(worst.got, 10);
  EXPECT_EQ(describe(verdict),
            "2 of 8 outputs are wrong; first: image 0, output channel 1, row 0, column 1: expected 3, got 4");
}

TEST(Compare, NanIsTheWorstAndUnwrittenIsCounted) {
  const Verdict verdict = judged({1, 2, 3}, {100, std::bit_cast<float>(kUninitialized), kNan});
  EXPECT_EQ(verdict.wrong, 3);
  EXPECT_EQ(verdict.uninitialized, 1);
  EXPECT_TRUE(std::isnan(verdict.worst.got));
}

TEST(Compare, TheNormBindsWhereNoElementDoes) {
  const std::vector<double> ones(1000, 1);
  const std::vector<float> off(1000, 1 + 0x1p-18f);
  const Expected expected = outputs(ones);
  EXPECT_FALSE(compare(expected, off, {.absolute = 1, .relative_l2 = 1e-6}).passed());
  EXPECT_TRUE(compare(expected, off, {.absolute = 1, .relative_l2 = 0x1p-18}).passed());
  EXPECT_NEAR(compare(expected, off, {.absolute = 1, .relative_l2 = 1}).relative_l2, 0x1p-18, 1e-12);
}

TEST(Compare, TheNormIsFairToSumsThatCancel) {
  // One output of 100 terms of size 1 that cancel to 1e-3. An error of 1e-6 is one part in ten million of a typical
  // sum.
  const Expected expected = outputs({1e-3}, 100);
  EXPECT_TRUE(compare(expected, std::vector<float>{1e-3f + 1e-6f}, {.absolute = 1, .relative_l2 = 2e-7, .terms = 100})
                  .passed());
}

TEST(Compare, SizesMustAgree) { EXPECT_THROW(judged({1, 2}, {1}), Error); }

TEST(CompareBatch, EachImageIsHeldAgainstItsOwn) {
  ThreadPool threads(2);
  const Expected expected{{3, 1, 1, 2}, {0, 1, 10, 11, 20, 21}, std::vector<float>(6, 1)};
  const std::vector<int64_t> at{2, 0, 0, 1};
  const ErrorModel exact{.relative_l2 = 1};
  const auto judged = [&](const std::vector<float>& got) {
    BatchComparison comparison(expected, exact);
    for (size_t first : {2, 0}) {  // chunk by chunk, in any order
      comparison.add(static_cast<int64_t>(first), std::span(at).subspan(first, 2), std::span(got).subspan(2 * first, 4),
                     threads);
    }
    return comparison.verdict();
  };
  const Verdict right = judged({20, 21, 0, 1, 0, 1, 10, 11});
  EXPECT_TRUE(right.passed());
  EXPECT_EQ(right.count, 8);
  const Verdict wrong = judged({20, 21, 0, 5, 0, 1, 20, 11});
  EXPECT_EQ(wrong.wrong, 2);
  EXPECT_EQ(wrong.first.n, 1);
  EXPECT_EQ(wrong.first.q, 1);
  EXPECT_EQ(wrong.worst.n, 3);
  EXPECT_FALSE(judged({20, 21, 0, 1, 0, 1, 10, kNan}).passed());
  BatchComparison comparison(expected, exact);
  EXPECT_THROW(comparison.add(0, at, std::vector<float>{1, 2}, threads), Error);
}

TEST(CompareNan, TheSetMustBeTheExpectedOne) {
  const Expected expected = outputs({1, kNan, 3});
  const ErrorModel exact{.relative_l2 = 1};
  const auto passes = [&](const std::vector<float>& got, bool may_spread) {
    return compare_nan(expected, got, exact, may_spread).passed();
  };
  EXPECT_TRUE(passes({1, kNan, 3}, false));
  EXPECT_FALSE(passes({1, 2, 3}, false));
  EXPECT_FALSE(passes({1, 2, 3}, true));
  EXPECT_FALSE(passes({1, kNan, kNan}, false));
  EXPECT_TRUE(passes({1, kNan, kNan}, true));
  EXPECT_FALSE(passes({2, kNan, kNan}, true));
  EXPECT_FALSE(passes({1, std::bit_cast<float>(kUninitialized), 3}, false));
  EXPECT_FALSE(passes({1, kNan, std::bit_cast<float>(kUninitialized)}, true));
}

TEST(Tolerance, Fp32IsTheProvenBound) {
  const ConvStep step{parse_problem("c12h9w9_k4r5s5")};
  const ErrorModel model = rounding_model(step, {.math = Math::fp32});
  EXPECT_EQ(model.per_scale, 300 * 0x1p-24);
  EXPECT_EQ(model.absolute, 0);
  EXPECT_EQ(model.relative_l2, 1e-6);
  EXPECT_EQ(exact_model(step).tolerance(1000, 1000), 0);
}

/// Returns the relative L2 error of random sums accumulated by `add`, as rounding_model() judges it.
template <class Add>
double error_of_sums(int64_t terms, const Add& add) {
  constexpr int kSums = 400;
  Rng rng(1);
  double square_error = 0, square_sum = 0;
  for (int i = 0; i < kSums; ++i) {
    double exact = 0;
    float sum = 0;
    for (int64_t term = 0; term < terms; ++term) {
      const float x = rng.uniform(-1, 1), w = rng.uniform(-1, 1);
      exact += static_cast<double>(x) * w;
      sum = add(sum, x, w);
    }
    square_error += (sum - exact) * (sum - exact);
    square_sum += exact * exact;
  }
  return std::sqrt(square_error / square_sum);
}

// The limit must allow honest fp32 sums of any length, and be at most twice their error.
TEST(Tolerance, Fp32GrowsWithSumsThatAreHonest) {
  const auto limit = [](const char* problem) {
    return rounding_model({parse_problem(problem)}, {.math = Math::fp32}).relative_l2;
  };
  const auto honest = [](float sum, float x, float w) { return sum + x * w; };
  const auto bf16 = [](float value) { return std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0xffff0000u); };
  const auto cut_operands = [&](float sum, float x, float w) { return sum + bf16(x) * bf16(w); };
  // Like fp32 with two bits less: three times the error of its class.
  const auto cut_sums = [](float sum, float x, float w) {
    return std::bit_cast<float>(std::bit_cast<uint32_t>(sum + x * w) & 0xfffffffcu);
  };
  EXPECT_EQ(limit("n8_c160h7w7_k64r3s3_p1"), 1e-6) << "what the class means, while sums can keep it";
  for (const auto& [terms, problem] :
       {std::pair{2304, "n8_c256h7w7_k64r3s3_p1"}, std::pair{4608, "n8_c512h7w7_k64r3s3_p1"},
        std::pair{18432, "n8_c2048h7w7_k64r3s3_p1"}}) {
    const double shown = error_of_sums(terms, honest);
    EXPECT_GT(limit(problem), 1.1 * shown) << terms;
    EXPECT_LT(limit(problem), 2 * shown) << terms;
    EXPECT_LT(limit(problem), error_of_sums(terms, cut_sums)) << terms;
    EXPECT_LT(limit(problem), error_of_sums(terms, cut_operands)) << terms;
  }
  EXPECT_GT(limit("c4608h1w1_k1r1s1"), 2 * limit("n8_c4608h7w7_k64r1s1")) << "a single output may be unlucky";
}

TEST(Tolerance, GrowsAsClassesGetLessPrecise) {
  const ConvStep step{parse_problem("c12h9w9_k4r5s5")};
  double before = 0, norm_before = 0;
  for (Math math : {Math::fp32, Math::bf16x2, Math::tf32, Math::bf16}) {
    const ErrorModel model = rounding_model(step, {.math = math});
    EXPECT_GT(model.per_scale, before) << name_of(math);
    EXPECT_GT(model.relative_l2, norm_before) << name_of(math);
    before = model.per_scale;
    norm_before = model.relative_l2;
  }
}

TEST(Tolerance, EpiloguesThatRoundMayRound) {
  const ConvProblem problem = parse_problem("c12h9w9_k4r5s5");
  const Pool average{.kind = PoolKind::average, .kernel_h = 2, .kernel_w = 2};
  const auto tolerance = [&](const Epilogue& epilogue) { return exact_model({problem, epilogue}).tolerance(1, 1); };
  EXPECT_EQ(tolerance({.bias = true, .activation = {ActivationKind::relu}}), 0);
  EXPECT_EQ(tolerance({.pool = Pool{.kernel_h = 3}}), 0);
  EXPECT_EQ(tolerance({.pool = average}), (3 + 2) * 0x1p-24);
  EXPECT_EQ(tolerance({.activation = {ActivationKind::tanh}}), 0x1p-20);
  EXPECT_EQ(tolerance({.activation = {ActivationKind::sigmoid}}), 0x1p-20);
}

TEST(Tolerance, HalvesMayRoundWhatIsNoInteger) {
  const ConvProblem problem = parse_problem("c12h9w9_k4r5s5");
  const auto tolerance = [&](const Epilogue& epilogue) {
    const ConvStep step{.problem = problem, .epilogue = epilogue, .output_format = kNchw8cF16};
    return exact_model(step).tolerance(1, 1);
  };
  EXPECT_EQ(tolerance({.bias = true, .activation = {ActivationKind::relu}}), 0);
  EXPECT_EQ(tolerance({.activation = {ActivationKind::leaky_relu, 0.1f}}), 0x1p-24 + 0x1p-11);
  EXPECT_EQ(tolerance({.activation = {ActivationKind::tanh}}), 0x1p-20 + 0x1p-10);
}

}  // namespace
}  // namespace convlab
