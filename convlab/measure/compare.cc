#include "convlab/measure/compare.h"

#include "convlab/base/clock.h"

namespace convlab {

std::string_view name_of(Decision decision) {
  switch (decision) {
    case Decision::faster:
      return "FASTER";
    case Decision::slower:
      return "SLOWER";
    case Decision::same:
      return "SAME";
    case Decision::undecided:
      return "UNDECIDED";
  }
  return "?";
}

Comparison compare_series(std::vector<double> first, std::vector<double> second) {
  std::vector<double> ratios;
  for (size_t i = 0; i < first.size(); ++i) ratios.push_back(first[i] / second[i]);
  Comparison result{.ratio = median(ratios), .interval = median_interval(ratios, 0.99)};
  if (result.interval.high < 1 - kNoticeable) {
    result.decision = Decision::faster;
  } else if (result.interval.low > 1 + kNoticeable) {
    result.decision = Decision::slower;
  } else if (result.interval.low >= 1 - kNegligible && result.interval.high <= 1 + kNegligible) {
    result.decision = Decision::same;
  }
  result.first = summarize(std::move(first));
  result.second = summarize(std::move(second));
  return result;
}

Comparison compare_interleaved(const Effort& effort, const std::function<double()>& first,
                               const std::function<double()>& second) {
  constexpr int kBetweenLooks = 5;
  std::vector<double> of_first, of_second;
  const auto begin = Clock::now();
  while (true) {
    double a = first(), b = second();
    b += second();
    a += first();
    of_first.push_back(a / 2);
    of_second.push_back(b / 2);
    const auto count = static_cast<int>(of_first.size());
    if (count < effort.least) continue;
    if (count >= effort.most || seconds_since(begin) >= effort.seconds) break;
    if (count % kBetweenLooks != 0) continue;
    const Comparison now = compare_series(of_first, of_second);
    if (now.interval.high - now.interval.low <= 2 * effort.spread) break;
  }
  return compare_series(std::move(of_first), std::move(of_second));
}

}  // namespace convlab
