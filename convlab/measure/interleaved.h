#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/measure/bench.h"
#include "convlab/measure/summary.h"

namespace convlab {

/// Result of comparing the first of two interleaved series with the second.
enum class Decision {
  faster,    ///< the whole interval of the ratio is below 1 - kNoticeable
  slower,    ///< the whole interval is above 1 + kNoticeable
  same,      ///< the whole interval is within 1 +- kNegligible
  undecided  ///< the interval is too wide to decide, or the figures are worthless: see Comparison::doubt
};

std::string_view name_of(Decision decision);

constexpr double kNoticeable = 0.005, kNegligible = 0.02;

/// A ratio whose interval spans more than this factor decides nothing, on whichever side of 1 it is.
constexpr double kTooWide = 2;

struct Comparison {
  Decision decision = Decision::undecided;
  double ratio = 1;   ///< median of first / second
  Interval interval;  ///< 99 % confidence interval of that median
  std::string doubt;  ///< why the figures are worthless, whatever they are; "" if they are valid
  Summary first, second;
  bool layers = false;  ///< the times are from prolog to epilog of two files (Times::layer_ms)
};

/// Decides by the ratios of neighboring samples, first[i] / second[i].
Comparison compare_series(std::vector<double> first, std::vector<double> second);

/// Takes interleaved samples in the order a b c, c b a, ..., so that a machine that slows down slows all series. The
/// two samples of a series in one round are averaged, which cancels a steady drift; all series have equally many
/// numbers. Ends when the ratio of the first series to each other one is known to within +- effort.spread (99 %
/// interval), or at the limits in `effort`. A single series ends only at these limits.
std::vector<std::vector<double>> take_rounds(const Effort& effort, std::span<const TakeSample> series);

/// Compares two series from take_rounds().
Comparison compare_interleaved(const Effort& effort, const TakeSample& first, const TakeSample& second);

/// Returns whether hot launches are compared from the start of the prolog to the end of the epilog, which is if all
/// kernels are files that have both. Each must have run. Throws Error(unavailable) if one of them computes in its
/// prolog and another has none.
bool are_whole_layers(std::span<KernelBench* const> benches);

/// Returns a sampler of a hot launch's time in ms: of the device, or of the whole layer if `layers`. On a host, an
/// untimed launch of the same kernel precedes each sample.
TakeSample hot_launches(KernelBench& bench, bool layers);

/// Compares interleaved hot launches of two kernels on the same arrays. If both are files with a prolog and an epilog,
/// the times include these. Undecided if other processes held the CPU; see Contention. Throws Error(wrong_result) if an
/// output is wrong, and Error(unavailable) if one computes in its prolog and the other has none.
Comparison compare_kernels(const Effort& effort, KernelBench& first, KernelBench& second);

}  // namespace convlab
