// Tests the vectorized activations and the epilogue of a fused step, with every instruction set.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "convlab/kernels/cpu/simd/vector_epilogue.h"
#include "tests/support/kernels_simd_targets.h"

namespace convlab {
namespace {

class CpuMath : public testing::TestWithParam<int64_t> {
 protected:
  ForcedTarget forced_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Cpu, CpuMath, testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return std::string(hwy::TargetName(info.param)); });

float activate_one(const Activation& activation, float value) {
  activate(activation, &value, 1);
  return value;
}

double units_off(float got, double expected) {
  const auto nearest = static_cast<float>(expected);
  const double unit = std::nextafter(std::fabs(nearest), INFINITY) - std::fabs(nearest);
  return std::fabs(got - expected) / unit;
}

/// Returns the largest error of an activation, in ulp, over floats of both signs with magnitudes from `low` to `high`.
double worst_units(const Activation& activation, double (*definition)(double), float low, float high) {
  std::vector<float> values;
  constexpr uint32_t kStep = 1021;  // a prime, so that all bit patterns are covered
  for (uint32_t bits = std::bit_cast<uint32_t>(low); bits <= std::bit_cast<uint32_t>(high); bits += kStep) {
    values.push_back(std::bit_cast<float>(bits));
    values.push_back(-values.back());
  }
  std::vector<float> results = values;
  activate(activation, results.data(), static_cast<int64_t>(results.size()));
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double off = units_off(results[i], definition(values[i]));
    if (!(off <= worst)) worst = off;
  }
  return worst;
}

TEST_P(CpuMath, TanhIsWithinSixUnits) {
  const auto definition = [](double x) { return std::tanh(x); };
  EXPECT_LE(worst_units({ActivationKind::tanh}, definition, 0x1p-100f, 100.0f), 6.0);
}

TEST_P(CpuMath, SigmoidIsWithinFourUnits) {
  const auto definition = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_LE(worst_units({ActivationKind::sigmoid}, definition, 0x1p-100f, 86.0f), 4.0);
}

TEST_P(CpuMath, SwishIsWithinFiveUnits) {
  const auto definition = [](double x) { return x / (1 + std::exp(-x)); };
  EXPECT_LE(worst_units({ActivationKind::swish}, definition, 0x1p-100f, 80.0f), 5.0);
}

TEST_P(CpuMath, ActivationsAtTheirEdges) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_NEAR(activate_one({ActivationKind::tanh}, kInf), 1, 3e-7);
  EXPECT_NEAR(activate_one({ActivationKind::tanh}, -kInf), -1, 3e-7);
  EXPECT_EQ(activate_one({ActivationKind::tanh}, 0.0f), 0.0f);
  EXPECT_EQ(activate_one({ActivationKind::sigmoid}, kInf), 1.0f);
  EXPECT_EQ(activate_one({ActivationKind::sigmoid}, 1e30f), 1.0f);
  EXPECT_NEAR(activate_one({ActivationKind::sigmoid}, -kInf), 0, 1e-37);
  EXPECT_NEAR(activate_one({ActivationKind::sigmoid}, -90.0f), 0, 1e-37);
  EXPECT_EQ(activate_one({ActivationKind::swish}, 1e30f), 1e30f);
  EXPECT_EQ(activate_one({ActivationKind::swish}, kInf), kInf);
  EXPECT_NEAR(activate_one({ActivationKind::swish}, -100.0f), 0, 1e-35);
  EXPECT_EQ(activate_one({ActivationKind::relu}, -3.0f), 0.0f);
  EXPECT_EQ(activate_one({ActivationKind::relu}, 3.0f), 3.0f);
  EXPECT_EQ(activate_one({ActivationKind::leaky_relu, 0.5f}, -3.0f), -1.5f);
  EXPECT_EQ(activate_one({ActivationKind::clip, -1, 6}, -3.0f), -1.0f);
  EXPECT_EQ(activate_one({ActivationKind::clip, -1, 6}, 7.0f), 6.0f);
  EXPECT_EQ(activate_one({ActivationKind::clip, -1, 6}, 2.5f), 2.5f);
  for (const float x : {-2.0f, 0.0f, 1.5f, 6.0f}) EXPECT_EQ(activate_one({ActivationKind::clip, 2, 1}, x), 1.0f);
  EXPECT_EQ(activate_one({ActivationKind::none}, -0.0f), 0.0f);
}

TEST_P(CpuMath, NanStaysNan) {
  for (const ActivationKind kind :
       {ActivationKind::none, ActivationKind::relu, ActivationKind::leaky_relu, ActivationKind::clip,
        ActivationKind::sigmoid, ActivationKind::tanh, ActivationKind::swish}) {
    std::vector<float> values(37, 1.0f);  // full vectors and a tail
    values[3] = values[36] = std::numeric_limits<float>::quiet_NaN();
    activate({kind, 0, 1}, values.data(), 37);
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(std::isnan(values[i]), i == 3 || i == 36) << to_text(Activation{kind}) << " " << i;
    }
  }
}

TEST_P(CpuMath, MaxPoolingLetsNanWinInEveryPlace) {
  constexpr int64_t kWidth = 71, kHeight = 4;
  const ConvStep step{{.h = kHeight, .w = kWidth},
                      {.pool = Pool{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2}}};
  for (int64_t place = 0; place < kWidth * kHeight; ++place) {
    std::vector<float> sums(kWidth * kHeight);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<float>(i * 37 % 101) - 50;
    sums[place] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> before = sums;
    std::vector<float> pooled(2 * (kWidth / 2));
    finish_rows(step, sums.data(), {0, kHeight}, 0, 0, 2, pooled.data());
    for (int64_t p = 0; p < 2; ++p) {
      for (int64_t q = 0; q < kWidth / 2; ++q) {
        const bool holds_nan = place / kWidth / 2 == p && place % kWidth / 2 == q;
        const float got = pooled[p * (kWidth / 2) + q];
        if (holds_nan) {
          EXPECT_TRUE(std::isnan(got)) << place;
          continue;
        }
        float expected = -INFINITY;
        for (int64_t at : {0, 1, int(kWidth), int(kWidth) + 1}) {
          expected = std::max(expected, before[2 * p * kWidth + 2 * q + at]);
        }
        EXPECT_EQ(got, expected) << place;
      }
    }
  }
}

}  // namespace
}  // namespace convlab
