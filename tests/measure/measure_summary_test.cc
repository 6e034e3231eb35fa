// Tests summaries of samples: medians, ranks and confidence intervals.

#include "convlab/measure/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace convlab {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Summary, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
}

TEST(Summary, KeepsSamplesInOrderAndRanksThem) {
  const Summary summary = summarize({5, 1, 3});
  EXPECT_EQ(summary.median, 3);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.p95, 5);
  EXPECT_EQ(summary.samples, (std::vector<double>{5, 1, 3}));
  EXPECT_EQ(summarize(one_to(100)).p95, 95);
  EXPECT_TRUE(summarize({}).samples.empty());
}

// From tables of the sign test at 95 %: for 10 values the second and the ninth, for 20 the sixth and the fifteenth.
TEST(Summary, IntervalsAreThoseOfTheSignTest) {
  const Interval of_ten = median_interval(one_to(10), 0.95), of_twenty = median_interval(one_to(20), 0.95);
  EXPECT_EQ(of_ten.low, 2);
  EXPECT_EQ(of_ten.high, 9);
  EXPECT_EQ(of_twenty.low, 6);
  EXPECT_EQ(of_twenty.high, 15);
  EXPECT_EQ(median_interval(one_to(6), 0.95).low, 1);
}

TEST(Summary, TooFewSamplesKnowNothing) {
  EXPECT_TRUE(std::isinf(median_interval(one_to(5), 0.95).high));
  EXPECT_TRUE(std::isinf(summarize(one_to(5)).spread()));
  EXPECT_LT(summarize(std::vector<double>(20, 7.0)).spread(), 1e-12);
}

}  // namespace
}  // namespace convlab
