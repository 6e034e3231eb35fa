#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/kernel_file/switches.h"
#include "convlab/measure/interleaved.h"
#include "convlab/measure/summary.h"

namespace convlab {

/// Kind of numbers compared: interleaved noisy times, or exact counts (one number each).
enum class Samples { timed, counted };

/// Gain of a change: time (or count) without the change over time with it. Above 1 the change is an improvement.
struct Worth {
  double times = 1;                       ///< median
  Interval interval{1, 1};                ///< 99 % confidence interval; for counts, [times, times]
  Decision change = Decision::undecided;  ///< with the change: faster, slower, same; for counts: less, more, equal
  std::string doubt;                      ///< why the figures are worthless; "" if they are valid
};

/// Returns the gain from series as take_rounds() returns them: without[i] and with[i] are from the same round.
Worth worth_of(std::vector<double> without, std::vector<double> with, Samples samples);

/// Subsets of `switches` switches that an ablation compares, each once. alone_and_left_out: none, each alone, all but
/// each, all. every: all subsets.
enum class Subsets { alone_and_left_out, every };
std::vector<SwitchSet> ablation_subsets(int switches, Subsets which);

/// Returns the set of all `switches` switches.
constexpr SwitchSet all_of(int switches) { return (SwitchSet{1} << switches) - 1; }

/// How the gain of a change alone compares with its gain on top of the other changes.
enum class Effect {
  adds,          ///< gains alone, and about as much on top of the others
  adds_less,     ///< gains alone, but less than half as much (logarithm) on top of the others
  adds_more,     ///< gains alone, and more than twice as much (logarithm) on top of the others
  cancels,       ///< gains alone, but nothing on top of the others
  needs_others,  ///< gains on top of the others, but not alone
  hurts,         ///< slower with it when all others are on
  hurts_alone,   ///< slower alone; no effect on top of the others
  nothing,       ///< neither gains nor loses
  undecided,     ///< noise
  unknown        ///< a variant was not measured
};
std::string_view name_of(Effect effect);

/// `alone`: gain with all other switches off; `left_out`: gain with all others on.
struct SwitchEffect {
  std::optional<Worth> alone, left_out;
  Effect effect = Effect::unknown;
};

/// Measurements of each subset. Subsets that could not be measured are absent.
using SeriesOfSets = std::map<SwitchSet, std::vector<double>>;

SwitchEffect effect_of(std::optional<Worth> alone, std::optional<Worth> left_out);
SwitchEffect effect_of_switch(const SeriesOfSets& series, int switches, int which, Samples samples);

/// Returns the effect in words. `partner`: the other switch that cancels it; "" if unknown.
std::string verdict_text(const SwitchEffect& effect, const std::string& partner);

/// Returns the gain of one switch as the geometric mean over all settings of the other switches. `series` needs every
/// subset; returns nullopt if one is missing.
std::optional<Worth> main_effect(const SeriesOfSets& series, int switches, int which, Samples samples);

/// Returns how many times as much `a` gains with `b` as without, averaged like main_effect(): 1 if the gains multiply.
std::optional<Worth> interaction(const SeriesOfSets& series, int switches, int a, int b, Samples samples);

/// Several changes of one thing: `multiplied` is the product of their gains, `together` the measured gain of all of
/// them, `beyond` the ratio together / multiplied.
struct Product {
  Worth multiplied, together, beyond;
};
Product product_of(const std::vector<double>& base, std::span<const std::vector<double>> each,
                   const std::vector<double>& together, Samples samples);

}  // namespace convlab
