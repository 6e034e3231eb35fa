#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "convlab/measure/bench.h"
#include "convlab/measure/summary.h"

namespace convlab {

/// What two series, taken in turns, say of the first against the second.
enum class Decision {
  faster,    ///< the whole interval of the ratio is below 1 - kNoticeable
  slower,    ///< the whole interval is above 1 + kNoticeable
  same,      ///< the whole interval is within 1 +- kNegligible
  undecided  ///< the interval is too wide to say
};

std::string_view name_of(Decision decision);

constexpr double kNoticeable = 0.005, kNegligible = 0.02;

struct Comparison {
  Decision decision = Decision::undecided;
  double ratio = 1;   ///< median of first / second
  Interval interval;  ///< of that median, 99 %
  Summary first, second;
};

/// Decides by the ratios of neighbouring samples: first[i] / second[i].
Comparison compare_series(std::vector<double> first, std::vector<double> second);

/// Takes samples in turns, first second, second first, ..., so that a machine that slows down slows both. Each ratio is
/// that of two neighbours and the two after them, which cancels a steady drift. Ends when the ratio's interval is
/// narrower than effort.spread on both sides, or as `effort` says.
Comparison compare_interleaved(const Effort& effort, const std::function<double()>& first,
                               const std::function<double()>& second);

}  // namespace convlab
