// When a ratio is known well enough, and what its interval is.

#include "convlab/judge/ratio_sampling.h"

#include <gtest/gtest.h>

namespace convlab::judge {
namespace {

TEST(RatioSampling, EndsWithTenSamplesThatAgree) {
  RatioSampling sampling;
  for (int i = 0; i < 9; ++i) sampling.add(2 + 1e-4 * i, 4);
  EXPECT_FALSE(sampling.enough(0, 100));
  EXPECT_FALSE(sampling.enough(99, 100));  // ten in any case
  sampling.add(2, 4);
  EXPECT_TRUE(sampling.enough(0, 100));
  EXPECT_NEAR(sampling.ratio().median, 0.5, 1e-3);
  EXPECT_EQ(sampling.ratio().samples, 10);
  EXPECT_NEAR(sampling.median_s(), 2, 1e-3);
}

TEST(RatioSampling, GoesOnWhereTheyDoNotUntilHalfOfTheTimeIsOver) {
  RatioSampling sampling;
  for (int i = 0; i < 20; ++i) sampling.add(i % 2 == 0 ? 2 : 2.2, 4);
  EXPECT_FALSE(sampling.enough(49, 100));
  EXPECT_TRUE(sampling.enough(50, 100));
  while (sampling.ratio().samples < 300) sampling.add(sampling.ratio().samples % 2 == 0 ? 2 : 2.2, 4);
  EXPECT_TRUE(sampling.enough(0, 100));
}

TEST(RatioSampling, IsNeverSurerThanTwoProcessesAgree) {
  RatioSampling sampling;
  for (int i = 0; i < 50; ++i) sampling.add(2, 4);
  EXPECT_DOUBLE_EQ(sampling.ratio().low, 0.5 * 0.9975);
  EXPECT_DOUBLE_EQ(sampling.ratio().high, 0.5 * 1.0025);
}

}  // namespace
}  // namespace convlab::judge
