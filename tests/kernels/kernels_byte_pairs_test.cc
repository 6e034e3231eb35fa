// Tests the split of int8 weights that keeps sums of 8-bit products within 16 bits.

#include "convlab/kernels/cpu/nhwc_int8/byte_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "convlab/base/rng.h"

namespace convlab {
namespace {

constexpr int64_t kVectors = 2, kBytes = 32, kUnitBytes = kVectors * kBytes;

std::vector<int8_t> random_weights(int64_t units, int most) {
  Rng rng(static_cast<uint64_t>(units + most));
  std::vector<int8_t> weights(static_cast<size_t>(units * kUnitBytes));
  for (int8_t& weight : weights) weight = static_cast<int8_t>(rng.integer(std::max(-128, -most), std::min(127, most)));
  return weights;
}

/// Expects that no sum of the products of a pair of quantized values and weights, of one unit or of two added units,
/// overflows 16 bits.
void expect_within_16_bits(std::span<const int8_t> first, std::span<const int8_t> second = {}) {
  for (size_t i = 0; i < first.size(); i += 2) {
    int least = 0, most = 0;
    for (const auto unit : {first, second}) {
      for (size_t j = i; j < std::min(i + 2, unit.size()); ++j) (unit[j] < 0 ? least : most) += 255 * unit[j];
    }
    ASSERT_GE(least, INT16_MIN);
    ASSERT_LE(most, INT16_MAX);
  }
}

/// Expects that the units and their extra units add up to the weights, and that none of their sums overflows 16 bits.
void expect_split(const std::vector<int8_t>& weights, int64_t units, int64_t together) {
  std::vector<int8_t> kept = weights;
  const auto extras = take_extras(kept, kVectors, kBytes, units, together, std::ssize(weights));
  ASSERT_TRUE(extras && extras->size() == kVectors);
  const auto unit_of = [&](int64_t unit) {
    return std::span(kept).subspan(static_cast<size_t>(unit * kUnitBytes), kUnitBytes);
  };
  for (int64_t column = 0; column < std::ssize(weights) / kUnitBytes; column += units) {
    for (int64_t unit = 0; unit < units; unit += together) {
      const bool alone = together == 1 || unit + 1 == units;
      expect_within_16_bits(unit_of(column + unit), alone ? std::span<int8_t>() : unit_of(column + unit + 1));
    }
  }
  std::vector<int> sum(kept.begin(), kept.end());
  for (size_t vector = 0; vector < kVectors; ++vector) {
    const ExtraUnits& of_vector = (*extras)[vector];
    for (size_t i = 0; i < of_vector.units.size(); ++i) {
      const auto extra = std::span(of_vector.weights).subspan(i * kBytes, kBytes);
      expect_within_16_bits(extra);
      const size_t at = static_cast<size_t>(of_vector.units[i] * kUnitBytes) + vector * kBytes;
      for (size_t j = 0; j < kBytes; ++j) sum[at + j] += extra[j];
    }
  }
  EXPECT_TRUE(std::ranges::equal(sum, weights));
}

TEST(BytePairs, AreTheWeightsTogetherAndDoNotOverflow) {
  for (const int most : {20, 64, 100, 128}) {
    for (const int64_t units : {1, 2, 3, 8}) {
      for (const int64_t together : {1, 2}) {
        SCOPED_TRACE(testing::Message() << "up to " << most << ", columns of " << units << " units, " << together
                                        << " at a time");
        expect_split(random_weights(3 * units, most), units, together);
      }
    }
  }
}

TEST(BytePairs, TheLargestWeights) {
  for (const int8_t weight : {int8_t{-128}, int8_t{127}}) {
    const std::vector<int8_t> weights(6 * kUnitBytes, weight);
    for (const int64_t together : {1, 2}) expect_split(weights, 3, together);
  }
}

TEST(BytePairs, SevenBitsNeedNoExtraUnits) {
  std::vector<int8_t> weights(4 * kUnitBytes, 64);
  const auto extras = take_extras(weights, kVectors, kBytes, 4, 1, 0);
  ASSERT_TRUE(extras);
  EXPECT_TRUE((*extras)[0].units.empty() && (*extras)[1].units.empty());
}

TEST(BytePairs, TooManyExtraUnitsLeaveWeightsAsTheyAre) {
  std::vector<int8_t> weights(4 * kUnitBytes, 127);
  EXPECT_FALSE(take_extras(weights, kVectors, kBytes, 4, 1, 3));
  EXPECT_EQ(weights, std::vector<int8_t>(4 * kUnitBytes, 127));
  EXPECT_TRUE(take_extras(weights, kVectors, kBytes, 4, 1, 4));
}

}  // namespace
}  // namespace convlab
