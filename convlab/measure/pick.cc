// Picks the fastest of several ways by their interleaved times.

#include "convlab/measure/pick.h"

#include "convlab/measure/summary.h"

namespace convlab {
namespace {

/// Returns whether the second is clearly faster than the first.
bool is_clearly_faster(const std::vector<double>& first, const std::vector<double>& second) {
  if (first.size() != second.size() || first.size() < kLeastTurns) return false;
  std::vector<double> ratios;
  for (size_t i = 0; i < first.size(); ++i) ratios.push_back(second[i] / first[i]);
  return median(ratios) < kClearlyFaster && median_interval(ratios, 0.99).high < 1;
}

}  // namespace

Pick pick_way(std::span<const std::vector<double>> times) {
  std::vector<double> medians;
  for (const std::vector<double>& each : times) medians.push_back(median(each));
  const auto fastest_besides = [&](size_t way) {
    std::optional<size_t> found;
    for (size_t i = 0; i < medians.size(); ++i) {
      if (i != way && (!found || medians[i] < medians[*found])) found = i;
    }
    return found;
  };
  const std::optional<size_t> other = fastest_besides(0);
  if (!other) return {.why = "only"};
  if (is_clearly_faster(times[0], times[*other])) {
    return {.taken = *other, .next = fastest_besides(*other), .why = kFaster};
  }
  return {.next = other, .why = medians[*other] < medians[0] ? "close" : "first"};
}

}  // namespace convlab
