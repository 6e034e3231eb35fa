#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace convlab {

/// Another way than the first is taken only if it takes less than so much of the first's time.
constexpr double kClearlyFaster = 0.97;

/// Ways with fewer samples are only compared by their medians, and never taken instead of the first.
constexpr size_t kLeastTurns = 8;

/// Which of several ways to compute the same is to be taken, and why: a word for a plan file (see kChoiceReasons).
struct Pick {
  size_t taken = 0;
  std::optional<size_t> next;  ///< the fastest of the others
  std::string_view why;
};

/// Picks by times that were taken in turns: times[way][turn]. The first way is what is taken without measurements, and
/// stays unless the fastest is faster by a clear margin, also beyond what the ratio of neighbouring times scatters.
/// Each way has at least one sample; those that were given up early have fewer than the first.
Pick pick_way(std::span<const std::vector<double>> times);

}  // namespace convlab
