#pragma once

#include <span>
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

/// Takes samples in turns, a b c, c b a, ..., so that a machine that slows down slows all: of each series one number
/// for there and back, which cancels a steady drift, and so as many for each. Ends when the ratios of all to the first
/// are known, their intervals narrower than effort.spread on both sides, or as `effort` says. A series that is there
/// alone ends as `effort` says.
std::vector<std::vector<double>> take_rounds(const Effort& effort, std::span<const TakeSample> series);

/// take_rounds() of two, compared.
Comparison compare_interleaved(const Effort& effort, const TakeSample& first, const TakeSample& second);

/// Whether hot launches of these are compared from the begin of the prolog to the end of the epilog: if all are files
/// that have both. Each has run. Error(unavailable) where one of them computes in its prolog and another has none.
bool are_whole_layers(std::span<KernelBench* const> benches);

/// A hot launch's time in ms, on the device or of the whole layer. On a host the launch before it is the kernel's own,
/// too.
TakeSample hot_launches(KernelBench& bench, bool layers);

/// Two kernels' hot launches, in turns on the same arrays; of two files that have both a prolog and an epilog, these
/// included. Undecided where other processes held the CPU; see Contention. Error(wrong_result) where a launch's output
/// is wrong; Error(unavailable) where one of them computes in its prolog and the other has none.
Comparison compare_kernels(const Effort& effort, KernelBench& first, KernelBench& second);

}  // namespace convlab
