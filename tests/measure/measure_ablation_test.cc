// Tests the statistics of ablation: effects of switches, interactions and products of gains.

#include "convlab/measure/ablation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "convlab/base/rng.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int kRounds = 40;

/// Returns times around a mean, each off by up to `noise` of it.
std::vector<double> times_around(double mean, double noise, uint64_t seed) {
  Rng random(seed);
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) times.push_back(mean * (1 + noise * random.uniform(-1, 1)));
  return times;
}

/// Returns series for two switches A and B with these mean times: none, only A, only B, both.
SeriesOfSets series_of(double none, double a, double b, double both, double noise = 0.005) {
  return {{0, times_around(none, noise, 1)},
          {1, times_around(a, noise, 2)},
          {2, times_around(b, noise, 3)},
          {3, times_around(both, noise, 4)}};
}

SwitchEffect effect_of_a(const SeriesOfSets& series) { return effect_of_switch(series, 2, 0, Samples::timed); }

TEST(Ablation, WhatGainsAloneAndAmongOthersAdds) {
  const SwitchEffect effect = effect_of_a(series_of(12, 10, 6, 5));
  EXPECT_EQ(effect.effect, Effect::adds);
  EXPECT_NEAR(effect.alone->times, 1.2, 0.01);
  EXPECT_NEAR(effect.left_out->times, 1.2, 0.01);
  EXPECT_LT(effect.alone->interval.low, effect.alone->times);
  EXPECT_GT(effect.alone->interval.high, effect.alone->times);
  EXPECT_THAT(verdict_text(effect, ""), StartsWith("adds: 1.20 alone, 1.20 with the others"));
}

TEST(Ablation, WhatGainsLessOrMoreAmongOthersSaysSo) {
  EXPECT_EQ(effect_of_a(series_of(20, 10, 5.5, 5)).effect, Effect::adds_less);
  EXPECT_EQ(effect_of_a(series_of(11, 10, 10, 5)).effect, Effect::adds_more);
}

TEST(Ablation, WhatGainsOnlyAloneCancels) {
  const SwitchEffect effect = effect_of_a(series_of(12, 10, 6, 6));
  EXPECT_EQ(effect.effect, Effect::cancels);
  EXPECT_EQ(verdict_text(effect, "WITH_B"), "cancels: 1.20 alone, no effect once WITH_B is on");
  EXPECT_THAT(verdict_text(effect, ""), HasSubstr("the others are on"));
}

TEST(Ablation, WhatGainsOnlyAmongOthersNeedsThem) {
  EXPECT_EQ(effect_of_a(series_of(10, 10, 10, 5)).effect, Effect::needs_others);
  EXPECT_EQ(effect_of_a(series_of(10, 12, 10, 5)).effect, Effect::needs_others);
}

TEST(Ablation, WhatLosesHurts) {
  EXPECT_EQ(effect_of_a(series_of(10, 12, 10, 12)).effect, Effect::hurts);
  EXPECT_EQ(effect_of_a(series_of(12, 10, 5, 6)).effect, Effect::hurts) << "in the end";
  EXPECT_EQ(effect_of_a(series_of(10, 12, 5, 5)).effect, Effect::hurts_alone);
  EXPECT_EQ(effect_of_a(series_of(10, 10, 5, 5)).effect, Effect::nothing);
}

TEST(Ablation, NoiseLeavesItUndecided) {
  const SwitchEffect effect = effect_of_a(series_of(10.3, 10, 10, 9.7, 0.2));
  EXPECT_EQ(effect.effect, Effect::undecided);
  EXPECT_THAT(verdict_text(effect, ""), testing::ContainsRegex("undecided: noise .*±[0-9.]+ %"));
  EXPECT_EQ(effect_of_switch({{0, {1}}, {1, {2}}}, 1, 0, Samples::timed).effect, Effect::undecided)
      << "one round knows nothing";
}

TEST(Ablation, WhatWasNotMeasuredIsNotKnown) {
  SeriesOfSets series = series_of(12, 10, 6, 5);
  series.erase(1);
  const SwitchEffect effect = effect_of_a(series);
  EXPECT_EQ(effect.effect, Effect::unknown);
  EXPECT_TRUE(effect.left_out) << "what is there stays";
  EXPECT_THAT(verdict_text(effect, ""), HasSubstr("the change alone could not be measured"));
  EXPECT_FALSE(main_effect(series, 2, 0, Samples::timed));
}

TEST(Ablation, CountsAreExact) {
  EXPECT_EQ(worth_of({100}, {50}, Samples::counted).change, Decision::faster);
  EXPECT_EQ(worth_of({100}, {50}, Samples::counted).times, 2);
  EXPECT_EQ(worth_of({100}, {100}, Samples::counted).change, Decision::same);
  EXPECT_EQ(worth_of({0}, {0}, Samples::counted).times, 1);
  EXPECT_EQ(worth_of({0}, {7}, Samples::counted).times, 0);
  EXPECT_TRUE(std::isinf(worth_of({7}, {0}, Samples::counted).times));
}

TEST(Ablation, EverySubsetComesOnce) {
  EXPECT_THAT(ablation_subsets(1, Subsets::alone_and_left_out), ElementsAre(0, 1));
  EXPECT_THAT(ablation_subsets(2, Subsets::alone_and_left_out), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ablation_subsets(3, Subsets::alone_and_left_out), ElementsAre(0, 1, 2, 4, 6, 5, 3, 7));
  EXPECT_EQ(ablation_subsets(5, Subsets::alone_and_left_out).size(), 12U);
  EXPECT_EQ(ablation_subsets(5, Subsets::every).size(), 32U);
}

/// Three switches with gains 2, 3 and 1. The first two together gain a further factor of 1.5.
SeriesOfSets factorial() {
  SeriesOfSets series;
  for (SwitchSet set = 0; set < 8; ++set) {
    double time = 60;
    if ((set & 1) != 0) time /= 2;
    if ((set & 2) != 0) time /= 3;
    if ((set & 3) == 3) time /= 1.5;
    series[set] = times_around(time, 0.005, set + 1);
  }
  return series;
}

TEST(Ablation, AFactorialTellsMainEffectsAndInteractions) {
  const SeriesOfSets series = factorial();
  const auto main = [&](int which) { return main_effect(series, 3, which, Samples::timed)->times; };
  EXPECT_NEAR(main(0), 2 * std::sqrt(1.5), 0.02);
  EXPECT_NEAR(main(1), 3 * std::sqrt(1.5), 0.03);
  EXPECT_NEAR(main(2), 1, 0.01);
  EXPECT_NEAR(interaction(series, 3, 0, 1, Samples::timed)->times, 1.5, 0.02);
  EXPECT_NEAR(interaction(series, 3, 0, 2, Samples::timed)->times, 1, 0.01);
}

TEST(Ablation, TheProductOfGainsStandsBesideWhatTheyGaveTogether) {
  const SeriesOfSets series = factorial();
  const std::vector<std::vector<double>> each{series.at(1), series.at(2), series.at(4)};
  const Product product = product_of(series.at(0), each, series.at(7), Samples::timed);
  EXPECT_NEAR(product.multiplied.times, 6, 0.1);
  EXPECT_NEAR(product.together.times, 9, 0.1);
  EXPECT_NEAR(product.beyond.times, 1.5, 0.02);
  EXPECT_EQ(product.beyond.change, Decision::faster);
}

}  // namespace
}  // namespace convlab
