#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/measure/bench.h"
#include "convlab/measure/summary.h"

namespace convlab {

/// What two series, taken in turns, say about the first against the second.
enum class Decision {
  faster,    ///< the whole interval of the ratio is below 1 - kNoticeable
  slower,    ///< the whole interval is above 1 + kNoticeable
  same,      ///< the whole interval is within 1 +- kNegligible
  undecided  ///< the interval is too wide to say, or the figures are worthless: see Comparison::doubt
};

std::string_view name_of(Decision decision);

constexpr double kNoticeable = 0.005, kNegligible = 0.02;

/// A ratio that is not known to within this factor decides nothing, on whichever side of 1 it lies.
constexpr double kTooWide = 2;

struct Comparison {
  Decision decision = Decision::undecided;
  double ratio = 1;   ///< median of first / second
  Interval interval;  ///< of that median, 99 %
  std::string doubt;  ///< why the figures are worthless, whatever they are; "" if they are not
  Summary first, second;
  bool layers = false;  ///< what was compared is the time from prolog to epilog of two files (Times::layer_ms)
};

/// Decides by the ratios of neighbouring samples: first[i] / second[i].
Comparison compare_series(std::vector<double> first, std::vector<double> second);

/// Takes samples in turns, first second, second first, ..., so that a machine that slows down slows both. Each ratio is
/// that of two neighbours and the two after them, which cancels a steady drift. Ends when the ratio's interval is
/// narrower than effort.spread on both sides, or as `effort` says.
Comparison compare_interleaved(const Effort& effort, const TakeSample& first, const TakeSample& second);

/// Two kernels' hot launches, in turns on the same arrays; of two files that have both a prolog and an epilog, these
/// included. Undecided where other processes held the CPU; see Contention. Error(wrong_result) where a launch's output
/// is wrong; Error(unavailable) where one of them computes in its prolog and the other has none.
Comparison compare_kernels(const Effort& effort, KernelBench& first, KernelBench& second);

}  // namespace convlab
