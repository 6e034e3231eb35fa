// Takes interleaved samples of several kernels and compares them.

#include "convlab/measure/interleaved.h"

#include <algorithm>
#include <array>
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
    result.doubt = "the ratio varies too much between samples";
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

std::vector<std::vector<double>> take_rounds(const Effort& effort, std::span<const TakeSample> series) {
  constexpr int kBetweenLooks = 5;
  std::vector<std::vector<double>> samples(series.size());
  const auto take_turns = [&](bool end) {
    std::vector<double> there;
    for (const TakeSample& take : series) there.push_back(take(end));
    for (size_t i = series.size(); i-- > 0;) samples[i].push_back((there[i] + series[i](end)) / 2);
  };
  const auto is_known = [&](const std::vector<double>& other) {
    const Comparison now = compare_series(samples.front(), other);
    return now.interval.high - now.interval.low <= 2 * effort.spread;
  };
  const auto begin = Clock::now();
  const auto last_is_next = [&] {
    const auto count = static_cast<int>(samples.front().size()) + 1;
    if (count < effort.least) return false;
    if (count >= effort.most || seconds_since(begin) >= effort.seconds) return true;
    return count % kBetweenLooks == 0 && series.size() > 1 && std::all_of(samples.begin() + 1, samples.end(), is_known);
  };
  take_turns(true);
  while (!last_is_next()) take_turns(false);
  take_turns(true);
  return samples;
}

Comparison compare_interleaved(const Effort& effort, const TakeSample& first, const TakeSample& second) {
  std::vector<std::vector<double>> samples = take_rounds(effort, std::array{first, second});
  return compare_series(std::move(samples[0]), std::move(samples[1]));
}

bool are_whole_layers(std::span<KernelBench* const> benches) {
  const auto has_phases = [](const KernelBench* each) { return each->last().layer_ms > 0; };
  const bool layers = std::ranges::all_of(benches, has_phases);
  for (const KernelBench* each : benches) {
    if (each->last().early && !layers) {
      throw unavailable("{} computes in its prolog; compare it only with files that have a prolog and an epilog",
                        each->kernel().info.name);
    }
  }
  return layers;
}

TakeSample hot_launches(KernelBench& bench, bool layers) {
  // On a GPU, launches are ordered by the stream, and no threads spin after a launch.
  const bool on_host = bench.arrays().device().caps().runs_on_host();
  return [&bench, on_host, layers](bool end) {
    if (on_host) bench.take_over();
    const KernelBench::Times times = bench.run(Caches::hot, end);
    return layers ? times.layer_ms : times.device_ms;
  };
}

Comparison compare_kernels(const Effort& effort, KernelBench& first, KernelBench& second) {
  const bool on_host = first.arrays().device().caps().runs_on_host();
  const bool layers = are_whole_layers(std::array{&first, &second});
  const Contention contention;
  Comparison comparison = compare_interleaved(effort, hot_launches(first, layers), hot_launches(second, layers));
  comparison.layers = layers;
  const std::optional<double> waited = on_host ? contention.waited_share() : std::nullopt;
  if (waited && *waited > kBusy) {
    comparison.decision = Decision::undecided;
    comparison.doubt = busy_text(*waited);
  }
  return comparison;
}

}  // namespace convlab
