#include "convlab/measure/in_turns.h"

#include <optional>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/measure/contention.h"

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
  if (result.interval.low > 0 && result.interval.high > kTooWide * result.interval.low) {
    result.doubt = "the ratio scatters too much";
  } else if (result.interval.high < 1 - kNoticeable) {
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

Comparison compare_interleaved(const Effort& effort, const TakeSample& first, const TakeSample& second) {
  constexpr int kBetweenLooks = 5;
  std::vector<double> of_first, of_second;
  const auto take_turns = [&](bool end) {
    double a = first(end), b = second(end);
    b += second(end);
    a += first(end);
    of_first.push_back(a / 2);
    of_second.push_back(b / 2);
  };
  const auto begin = Clock::now();
  const auto last_is_next = [&] {
    const auto count = static_cast<int>(of_first.size()) + 1;
    if (count < effort.least) return false;
    if (count >= effort.most || seconds_since(begin) >= effort.seconds) return true;
    if (count % kBetweenLooks != 0) return false;
    const Comparison now = compare_series(of_first, of_second);
    return now.interval.high - now.interval.low <= 2 * effort.spread;
  };
  take_turns(true);
  while (!last_is_next()) take_turns(false);
  take_turns(true);
  return compare_series(std::move(of_first), std::move(of_second));
}

Comparison compare_kernels(const Effort& effort, KernelBench& first, KernelBench& second) {
  // On a GPU launches wait for each other, and no threads remain.
  const bool on_host = first.arrays().device().caps().kind != DeviceKind::cuda;
  const bool layers = first.last().layer_ms > 0 && second.last().layer_ms > 0;
  for (const KernelBench* each : {&first, &second}) {
    if (each->last().early && !layers) {
      throw unavailable(
          "{} computes in its prolog: only another file with a prolog and an epilog can be compared with it",
          each->kernel().info.name);
    }
  }
  const auto hot = [&](KernelBench& bench) {
    return [&bench, on_host, layers](bool end) {
      if (on_host) bench.take_over();
      const KernelBench::Times times = bench.run(Caches::hot, end);
      return layers ? times.layer_ms : times.device_ms;
    };
  };
  const Contention contention;
  Comparison comparison = compare_interleaved(effort, hot(first), hot(second));
  comparison.layers = layers;
  const std::optional<double> waited = on_host ? contention.waited_share() : std::nullopt;
  if (waited && *waited > kBusy) {
    comparison.decision = Decision::undecided;
    comparison.doubt = busy_text(*waited);
  }
  return comparison;
}

}  // namespace convlab
