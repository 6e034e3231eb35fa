// Tests the choice among alternatives from interleaved measurements, with synthetic times.

#include "convlab/measure/pick.h"

#include <gtest/gtest.h>

#include "convlab/base/rng.h"

namespace convlab {
namespace {

using Times = std::vector<std::vector<double>>;

/// Returns `turns` rounds of times around each mean, each off by up to `noise` of it.
Times times_around(const std::vector<double>& means, double noise, size_t turns = 30, uint64_t seed = 1) {
  Rng random(seed);
  Times times(means.size());
  for (size_t turn = 0; turn < turns; ++turn) {
    for (size_t i = 0; i < means.size(); ++i) times[i].push_back(means[i] * (1 + noise * random.uniform(-1, 1)));
  }
  return times;
}

TEST(PickWay, TheOnlyOne) {
  const Pick pick = pick_way(times_around({1}, 0));
  EXPECT_EQ(pick.taken, 0u);
  EXPECT_EQ(pick.next, std::nullopt);
  EXPECT_EQ(pick.why, "only");
}

TEST(PickWay, TheFirstStaysWhereItIsTheFastest) {
  const Pick pick = pick_way(times_around({1, 3, 2}, 0.1));
  EXPECT_EQ(pick.taken, 0u);
  EXPECT_EQ(pick.next, 2u);
  EXPECT_EQ(pick.why, "first");
}

TEST(PickWay, AnotherIsTakenIfItIsClearlyFaster) {
  const Pick pick = pick_way(times_around({1, 0.8, 0.9}, 0.02));
  EXPECT_EQ(pick.taken, 1u);
  EXPECT_EQ(pick.next, 2u);
  EXPECT_EQ(pick.why, "faster");
}

TEST(PickWay, TheFirstStaysWhereAnotherIsHardlyFaster) {
  const Pick pick = pick_way(times_around({1, 0.98}, 0.001));
  EXPECT_EQ(pick.taken, 0u);
  EXPECT_EQ(pick.next, 1u);
  EXPECT_EQ(pick.why, "close");
}

TEST(PickWay, TheFirstStaysWhereTimesScatterTooMuch) {
  // Its median is faster, but it is slower in nearly half of all rounds.
  Times times(2, std::vector<double>(21, 1));
  for (size_t turn = 0; turn < times[1].size(); ++turn) times[1][turn] = turn < 11 ? 0.9 : 1.2;
  EXPECT_EQ(pick_way(times).why, "close");
}

TEST(PickWay, FewTurnsDecideNothing) {
  EXPECT_EQ(pick_way(times_around({1, 0.5}, 0, kLeastTurns - 1)).taken, 0u);
  EXPECT_EQ(pick_way(times_around({1, 0.5}, 0, kLeastTurns)).taken, 1u);
}

TEST(PickWay, WhoWasGivenUpEarlyIsNeverTaken) {
  const Pick pick = pick_way(Times{std::vector<double>(20, 1), {0.5}});
  EXPECT_EQ(pick.taken, 0u);
  EXPECT_EQ(pick.next, 1u);
}

TEST(PickWay, ASlowMachineSlowsAll) {
  Times times = times_around({1, 0.9}, 0.01);
  for (std::vector<double>& each : times) {
    for (size_t turn = 15; turn < each.size(); ++turn) each[turn] *= 3;
  }
  EXPECT_EQ(pick_way(times).taken, 1u);
}

TEST(PickWay, TwiceTheSame) {
  int same = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<double> means{1, 0.9 + 0.002 * static_cast<double>(seed)};
    same += pick_way(times_around(means, 0.03, 40, 2 * seed)).taken ==
            pick_way(times_around(means, 0.03, 40, 2 * seed + 1)).taken;
  }
  EXPECT_GE(same, 95);
}

}  // namespace
}  // namespace convlab
