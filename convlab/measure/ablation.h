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

/// What numbers are: times, taken in turns, each with its noise; or a count, one number, exact.
enum class Samples { timed, counted };

/// How many times as much (time, or whatever is counted) it takes without a change as with it: above 1 the change
/// gains.
struct Worth {
  double times = 1;                       ///< the median
  Interval interval{1, 1};                ///< 99 %; of counts the number itself
  Decision change = Decision::undecided;  ///< of what has the change: faster, slower, same; with less, more, as much
  std::string doubt;                      ///< why the figures are worthless; "" if they are not
};

/// Of numbers as take_rounds() gives them: without[i] and with[i] were taken in the same round.
Worth worth_of(std::vector<double> without, std::vector<double> with, Samples samples);

/// The subsets of `switches` switches that an ablation compares, each once: none, each alone, all but each, all. Or
/// every subset.
enum class Subsets { alone_and_left_out, every };
std::vector<SwitchSet> ablation_subsets(int switches, Subsets which);

/// The set of all `switches` switches.
constexpr SwitchSet all_of(int switches) { return (SwitchSet{1} << switches) - 1; }

/// What a change is worth by itself, and among others.
enum class Effect {
  adds,          ///< gains alone, and about as much in the end
  adds_less,     ///< gains alone, and less than half of that in the end
  adds_more,     ///< gains alone, and more than twice that in the end
  cancels,       ///< gains alone, and nothing once the others are there
  needs_others,  ///< gains in the end, and not alone
  hurts,         ///< all is faster without it
  hurts_alone,   ///< loses alone; with the others it does not matter
  nothing,       ///< neither gains nor loses
  undecided,     ///< noise
  unknown        ///< a variant was not measured
};
std::string_view name_of(Effect effect);

/// `alone`: added to nothing; `left_out`: added to all others.
struct SwitchEffect {
  std::optional<Worth> alone, left_out;
  Effect effect = Effect::unknown;
};

/// What was measured of each subset; of one that could not be measured, nothing.
using SeriesOfSets = std::map<SwitchSet, std::vector<double>>;

SwitchEffect effect_of(std::optional<Worth> alone, std::optional<Worth> left_out);
SwitchEffect effect_of_switch(const SeriesOfSets& series, int switches, int which, Samples samples);

/// The effect in words. `partner`: the other that cancels it; "" if that is not known.
std::string verdict_text(const SwitchEffect& effect, const std::string& partner);

/// Of all subsets: the gain of one switch, averaged (geometrically) over whatever else is on. nullopt if one is
/// missing.
std::optional<Worth> main_effect(const SeriesOfSets& series, int switches, int which, Samples samples);

/// Of all subsets: how many times as much `a` gains with `b` as without, averaged likewise: 1 where gains multiply.
std::optional<Worth> interaction(const SeriesOfSets& series, int switches, int a, int b, Samples samples);

/// What several changes of one thing would give if their gains multiplied, what they gave together, and that over the
/// product.
struct Product {
  Worth multiplied, together, beyond;
};
Product product_of(const std::vector<double>& base, std::span<const std::vector<double>> each,
                   const std::vector<double>& together, Samples samples);

}  // namespace convlab
