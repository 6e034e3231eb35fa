// Tests when a time ratio is known well enough, and its confidence interval.

#include "convlab/judge/ratio_sampling.h"

#include <gtest/gtest.h>

#include <array>

namespace convlab::judge {
namespace {

/// Adds a sample of a single layer.
void add(RatioSampling& sampling, double seconds, double reference_s) {
  sampling.add(std::array{seconds}, std::array{reference_s});
}

TEST(RatioSampling, EndsWithTenSamplesThatAgree) {
  RatioSampling sampling;
  for (int i = 0; i < 9; ++i) add(sampling, 2 + 1e-4 * i, 4);
  EXPECT_FALSE(sampling.enough(0, 100));
  EXPECT_FALSE(sampling.enough(99, 100));  // at least ten samples
  add(sampling, 2, 4);
  EXPECT_TRUE(sampling.enough(0, 100));
  EXPECT_NEAR(sampling.ratio().median, 0.5, 1e-3);
  EXPECT_EQ(sampling.ratio().samples, 10);
  EXPECT_NEAR(sampling.median_s(), 2, 1e-3);
}

TEST(RatioSampling, GoesOnWhereTheyDoNotUntilHalfOfTheTimeIsOver) {
  RatioSampling sampling;
  for (int i = 0; i < 20; ++i) add(sampling, i % 2 == 0 ? 2 : 2.2, 4);
  EXPECT_FALSE(sampling.enough(49, 100));
  EXPECT_TRUE(sampling.enough(50, 100));
  while (sampling.ratio().samples < 300) add(sampling, sampling.ratio().samples % 2 == 0 ? 2 : 2.2, 4);
  EXPECT_TRUE(sampling.enough(0, 100));
}

TEST(RatioSampling, KeepsTheMediansOfEachLayer) {
  RatioSampling sampling;
  sampling.add(std::array{1.0, 10.0}, std::array{4.0, 20.0});
  sampling.add(std::array{3.0, 30.0}, std::array{2.0, 40.0});
  sampling.add(std::array{2.0, 50.0}, std::array{3.0, 30.0});
  EXPECT_EQ(sampling.time_of(0), (LayerTime{.seconds = 2, .reference_s = 3}));
  EXPECT_EQ(sampling.time_of(1), (LayerTime{.seconds = 30, .reference_s = 30}));
  EXPECT_DOUBLE_EQ(sampling.median_s(), 33);
  EXPECT_DOUBLE_EQ(sampling.ratio().median, 33.0 / 42) << "of all layers together";
  EXPECT_THROW(sampling.time_of(2), std::out_of_range);
}

TEST(RatioSampling, IsNeverSurerThanTwoProcessesAgree) {
  RatioSampling sampling;
  for (int i = 0; i < 50; ++i) add(sampling, 2, 4);
  EXPECT_DOUBLE_EQ(sampling.ratio().low, 0.5 * 0.9975);
  EXPECT_DOUBLE_EQ(sampling.ratio().high, 0.5 * 1.0025);
}

}  // namespace
}  // namespace convlab::judge
