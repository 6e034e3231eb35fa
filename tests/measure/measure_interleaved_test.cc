// Tests comparisons by interleaved samples: decisions, noise, drift and limits.

#include "convlab/measure/conv_arrays.h"
#include "convlab/measure/interleaved.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "convlab/base/rng.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

/// Simulated times around `mean`, each off by up to `noise` of it, on a machine whose speed drifts.
class FakeTimes {
 public:
  FakeTimes(double noise, uint64_t seed) : noise_(noise), random_(seed) {}

  double take(double mean) {
    drift_ *= 1.0005;
    return mean * drift_ * (1 + noise_ * random_.uniform(-1, 1));
  }

 private:
  double noise_, drift_ = 1;
  Rng random_;
};

Comparison compare_fakes(double first, double second, double noise, uint64_t seed) {
  FakeTimes times(noise, seed);
  return compare_interleaved(
      {.spread = 0.002, .seconds = 5, .least = 20, .most = 200}, [&](bool) { return times.take(first); },
      [&](bool) { return times.take(second); });
}

TEST(Compare, AgainstItselfIsSameOrUndecided) {
  int wrong = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Decision decision = compare_fakes(1, 1, 0.02, seed).decision;
    wrong += decision != Decision::same && decision != Decision::undecided;
  }
  EXPECT_LE(wrong, 5);
}

TEST(Compare, ThreePercentAreFound) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(compare_fakes(1.03, 1, 0.01, seed).decision, Decision::slower);
    EXPECT_EQ(compare_fakes(1, 1.03, 0.01, seed).decision, Decision::faster);
  }
}

/// Compares a real kernel with itself, slowed down in one series by waiting `more` times its own time.
Decision compare_slowed(double more) {
  using Clock = std::chrono::steady_clock;
  const auto device = open_device("cpu", {.threads = 1});
  const ConvStep step{parse_problem("n4_c12h33w33_k24r5s5")};
  Oracle oracle(1);
  ConvArrays arrays(*device, step, timed_layer(step, oracle));
  KernelBench bench(require_conv_kernel("cpu.direct", DeviceKind::cpu), arrays);
  const auto slowed = [&](bool end) {
    const double milliseconds = bench.run(Caches::hot, end).device_ms;
    const auto until = Clock::now() + std::chrono::duration<double, std::milli>(milliseconds * more);
    while (Clock::now() < until) {
    }
    return milliseconds * (1 + more);
  };
  const auto plain = [&](bool end) { return bench.run(Caches::hot, end).device_ms; };
  return compare_interleaved({.spread = 0.002, .seconds = 2, .least = 50, .most = 2000}, slowed, plain).decision;
}

// On a busy machine a difference of 3 % may stay undecided, but must never be decided the wrong way.
TEST(Compare, AKernelSlowedByThreePercentIsFound) {
  EXPECT_THAT(compare_slowed(0.03), testing::AnyOf(Decision::slower, Decision::undecided));
  EXPECT_EQ(compare_slowed(3), Decision::slower);
}

TEST(Compare, NoiseLeavesItUndecided) {
  const Comparison comparison = compare_series({1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, {2, 1, 2, 1, 2, 1, 2, 1, 2, 1});
  EXPECT_EQ(comparison.decision, Decision::undecided);
  EXPECT_EQ(compare_series({1}, {1}).decision, Decision::undecided) << "one pair knows nothing";
}

TEST(Compare, ARatioThatIsHardlyKnownDecidesNothing) {
  std::vector<double> first, second;
  for (int i = 0; i < 40; ++i) {
    first.push_back(std::pow(10.0, 1 + i % 4));  // 10 to 10000 times as long
    second.push_back(1);
  }
  const Comparison comparison = compare_series(first, second);
  EXPECT_GT(comparison.interval.low, 1);
  EXPECT_EQ(comparison.decision, Decision::undecided);
  EXPECT_THAT(comparison.doubt, testing::HasSubstr("varies"));
  EXPECT_EQ(compare_series(std::vector<double>(40, 3), std::vector<double>(40, 1)).decision, Decision::slower);
}

TEST(Compare, TheEndsOfASeriesAreTold) {
  std::vector<bool> ends;
  const auto take = [&](bool end) { return ends.push_back(end), 1.0; };
  compare_interleaved({.spread = 0.1, .seconds = 0, .least = 4, .most = 100}, take, [](bool) { return 1.0; });
  EXPECT_EQ(ends, (std::vector<bool>{true, true, false, false, false, false, true, true}));
}

TEST(Compare, EndsWhenTimeIsOver) {
  FakeTimes times(0.5, 1);
  const Comparison comparison = compare_interleaved(
      {.spread = 1e-9, .seconds = 0, .least = 5, .most = 100000}, [&](bool) { return times.take(1); },
      [&](bool) { return times.take(1); });
  EXPECT_EQ(comparison.first.samples.size(), 5U);
}

}  // namespace
}  // namespace convlab
