// Computes what each change of an ablation gains, alone and combined with the others.

#include "convlab/measure/ablation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace convlab {
namespace {

Worth counted_gain(double without, double with) {
  const double times = without == with ? 1 : with == 0 ? std::numeric_limits<double>::infinity() : without / with;
  Worth gain{.times = times, .interval = {times, times}, .change = Decision::same};
  if (times > 1 + kNoticeable) gain.change = Decision::faster;
  if (times < 1 - kNoticeable) gain.change = Decision::slower;
  return gain;
}

const std::vector<double>* numbers_of(const SeriesOfSets& series, SwitchSet set) {
  const auto found = series.find(set);
  return found == series.end() ? nullptr : &found->second;
}

/// Returns the gain from one set to another; nullopt if either was not measured.
std::optional<Worth> gain_between(const SeriesOfSets& series, SwitchSet without, SwitchSet with, Samples samples) {
  const std::vector<double>*from = numbers_of(series, without), *to = numbers_of(series, with);
  if (from == nullptr || to == nullptr) return std::nullopt;
  return worth_of(*from, *to, samples);
}

/// Compares the sets for which is_without() holds with the other half, round by round: the geometric mean of each half,
/// raised to `power`.
std::optional<Worth> contrast(const SeriesOfSets& series, int switches, double power, Samples samples,
                              const std::function<bool(SwitchSet)>& is_without) {
  const SwitchSet last = all_of(switches);
  const std::vector<double>* none = numbers_of(series, 0);
  if (none == nullptr) return std::nullopt;
  std::array<std::vector<double>, 2> logs;
  logs.fill(std::vector<double>(none->size()));
  for (SwitchSet set = 0; set <= last; ++set) {
    const std::vector<double>* values = numbers_of(series, set);
    if (values == nullptr) return std::nullopt;
    std::vector<double>& sums = logs[is_without(set) ? 0 : 1];
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += std::log(values->at(i));
  }
  for (std::vector<double>& sums : logs) {
    for (double& sum : sums) sum = std::exp(power * sum / std::exp2(switches - 1));
  }
  return worth_of(std::move(logs[0]), std::move(logs[1]), samples);
}

bool is_on(SwitchSet set, int which) { return (set >> which & 1U) != 0; }

/// "±3 %": half the interval as a share of the gain.
std::string noise_text(const Worth& gain) {
  const double half = (gain.interval.high - gain.interval.low) / 2 / gain.times;
  return std::isfinite(half) ? fmt::format("±{:.1f} %", 100 * half) : "too few samples";
}

Effect effect_in(Decision alone, Decision left_out, double share) {
  constexpr double kMuchLess = 0.5, kMuchMore = 2;
  if (alone == Decision::undecided || left_out == Decision::undecided) return Effect::undecided;
  if (left_out == Decision::slower) return Effect::hurts;
  if (left_out == Decision::same) {
    return alone == Decision::faster   ? Effect::cancels
           : alone == Decision::slower ? Effect::hurts_alone
                                       : Effect::nothing;
  }
  if (alone != Decision::faster) return Effect::needs_others;
  return share < kMuchLess ? Effect::adds_less : share > kMuchMore ? Effect::adds_more : Effect::adds;
}

}  // namespace

Worth worth_of(std::vector<double> without, std::vector<double> with, Samples samples) {
  if (samples == Samples::counted) return counted_gain(without.front(), with.front());
  const Comparison comparison = compare_series(std::move(with), std::move(without));
  return {.times = 1 / comparison.ratio,
          .interval = {comparison.interval.low > 0 ? 1 / comparison.interval.high : comparison.interval.low,
                       comparison.interval.low > 0 ? 1 / comparison.interval.low : comparison.interval.high},
          .change = comparison.decision,
          .doubt = comparison.doubt};
}

std::vector<SwitchSet> ablation_subsets(int switches, Subsets which) {
  const SwitchSet last = all_of(switches);
  std::vector<SwitchSet> sets{0};
  const auto add = [&](SwitchSet set) {
    if (std::ranges::find(sets, set) == sets.end()) sets.push_back(set);
  };
  for (int i = 0; i < switches; ++i) add(SwitchSet{1} << i);
  if (which == Subsets::every) {
    for (SwitchSet set = 1; set < last; ++set) add(set);
  }
  for (int i = 0; i < switches; ++i) add(last & ~(SwitchSet{1} << i));
  add(last);
  return sets;
}

std::string_view name_of(Effect effect) {
  constexpr std::array<std::string_view, 10> kNames{"ADDS",  "ADDS_LESS",   "ADDS_MORE", "CANCELS",   "NEEDS_OTHERS",
                                                    "HURTS", "HURTS_ALONE", "NOTHING",   "UNDECIDED", "UNKNOWN"};
  return kNames[static_cast<size_t>(effect)];
}

SwitchEffect effect_of(std::optional<Worth> alone, std::optional<Worth> left_out) {
  SwitchEffect result{.alone = std::move(alone), .left_out = std::move(left_out)};
  if (!result.alone || !result.left_out) return result;
  const double share = std::log(result.left_out->times) / std::log(result.alone->times);
  result.effect = effect_in(result.alone->change, result.left_out->change, share);
  return result;
}

SwitchEffect effect_of_switch(const SeriesOfSets& series, int switches, int which, Samples samples) {
  const SwitchSet all = all_of(switches), one = SwitchSet{1} << which;
  return effect_of(gain_between(series, 0, one, samples), gain_between(series, all & ~one, all, samples));
}

std::string verdict_text(const SwitchEffect& effect, const std::string& partner) {
  if (effect.effect == Effect::unknown) {
    return fmt::format("unknown: {} could not be measured",
                       effect.alone ? "the change with the others" : "the change alone");
  }
  const Worth &alone = *effect.alone, &end = *effect.left_out;
  const std::string others = partner.empty() ? "the others are" : partner + " is";
  switch (effect.effect) {
    case Effect::adds:
      return fmt::format("adds: {:.2f} alone, {:.2f} with the others", alone.times, end.times);
    case Effect::adds_less:
      return fmt::format("adds less: {:.2f} alone, only {:.2f} with the others", alone.times, end.times);
    case Effect::adds_more:
      return fmt::format("adds more: {:.2f} alone, {:.2f} with the others", alone.times, end.times);
    case Effect::cancels:
      return fmt::format("cancels: {:.2f} alone, no effect once {} on", alone.times, others);
    case Effect::needs_others:
      return fmt::format("needs the others: {:.2f} alone, {:.2f} with the others", alone.times, end.times);
    case Effect::hurts:
      return fmt::format("hurts: {:.2f} alone, {:.2f} with the others", alone.times, end.times);
    case Effect::hurts_alone:
      return fmt::format("hurts alone: {:.2f}; no effect once {} on", alone.times, others);
    case Effect::nothing:
      return "no effect, alone or with the others";
    case Effect::undecided:
    case Effect::unknown:
      break;
  }
  for (const Worth& gain : {alone, end}) {
    if (!gain.doubt.empty()) return "undecided: " + gain.doubt;
  }
  std::vector<std::string> open;
  if (alone.change == Decision::undecided) open.push_back("alone " + noise_text(alone));
  if (end.change == Decision::undecided) open.push_back("with the others " + noise_text(end));
  return fmt::format("undecided: noise {}", fmt::join(open, ", "));
}

std::optional<Worth> main_effect(const SeriesOfSets& series, int switches, int which, Samples samples) {
  return contrast(series, switches, 1, samples, [which](SwitchSet set) { return !is_on(set, which); });
}

std::optional<Worth> interaction(const SeriesOfSets& series, int switches, int a, int b, Samples samples) {
  // For each setting of the other switches, each side has two of the four sets of a and b. Squaring the mean of each
  // side makes it their product.
  return contrast(series, switches, 2, samples, [a, b](SwitchSet set) { return is_on(set, a) != is_on(set, b); });
}

Product product_of(const std::vector<double>& base, std::span<const std::vector<double>> each,
                   const std::vector<double>& together, Samples samples) {
  // The time predicted by the product of the gains, round by round.
  std::vector<double> promised = base;
  for (const std::vector<double>& one : each) {
    for (size_t i = 0; i < promised.size(); ++i) promised[i] *= base[i] == 0 ? 1 : one[i] / base[i];
  }
  return {.multiplied = worth_of(base, promised, samples),
          .together = worth_of(base, together, samples),
          .beyond = worth_of(promised, together, samples)};
}

}  // namespace convlab
