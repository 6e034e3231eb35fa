#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace convlab {

/// Another way replaces the first only if its time is below this fraction of the first's.
constexpr double kClearlyFaster = 0.97;

/// A way with fewer samples is compared only by its median, and never replaces the first.
constexpr size_t kLeastTurns = 8;

/// A way that takes this many times as long as the fastest in a first trial is not measured further.
constexpr double kTooSlow = 1.5;

/// Which of several ways to compute the same thing to use, and why: a word for a plan file (see kChoiceReasons).
struct Pick {
  size_t taken = 0;
  std::optional<size_t> next;  ///< the fastest of the others
  std::string_view why;
};

/// Pick::why if another way than the first is taken.
constexpr std::string_view kFaster = "faster";

/// Picks a way by interleaved times, times[way][turn]. The first way is the default without measurements. It stays
/// unless the fastest other way is faster by a clear margin that also exceeds the scatter of the ratios of neighboring
/// times. Each way has at least one sample; ways that were given up early have fewer than the first.
Pick pick_way(std::span<const std::vector<double>> times);

}  // namespace convlab
