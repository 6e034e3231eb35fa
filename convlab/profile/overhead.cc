// Measures the cost of recording and checks recorded times against events.

#include "convlab/profile/overhead.h"

#include <vector>

#include "convlab/base/clock.h"
#include "convlab/measure/summary.h"

namespace convlab {
namespace {

double kernel_seconds(const Recording& recording) {
  int64_t sum_ns = 0;
  for (const Activity& each : recording.activities) {
    // Other work of a step, such as filling its output with zeros, is also between its events.
    const bool within = each.kind == ActivityKind::copy && each.source == each.destination;
    const bool of_step = each.kind == ActivityKind::kernel || each.kind == ActivityKind::fill || within;
    if (of_step) sum_ns += each.duration_ns();
  }
  return static_cast<double>(sum_ns) * 1e-9;
}

}  // namespace

ProfilingCheck check_profiling(ReadyModel& model, Recorder& recorder, const std::function<void()>& pass) {
  constexpr double kBudgetSeconds = 2;
  constexpr int64_t kFewest = 3, kMost = 51;
  const auto timed_pass = [&] {
    const Clock::time_point begin = Clock::now();
    pass();
    return seconds_since(begin);
  };

  std::vector<double> plain, profiled, recorded, by_events, around;
  const Clock::time_point begin = Clock::now();
  const auto enough = [&] {
    const auto count = static_cast<int64_t>(plain.size());
    const double spent = seconds_since(begin);
    return count >= kMost || (count >= kFewest && spent > kBudgetSeconds) || (count > 0 && spent > 2 * kBudgetSeconds);
  };
  while (!enough()) {
    model.observe(nullptr);
    plain.push_back(timed_pass());
    model.observe(&recorder);
    const Clock::time_point switched = Clock::now();
    recorder.start();
    profiled.push_back(timed_pass());
    recorded.push_back(kernel_seconds(recorder.stop()));
    around.push_back(seconds_since(switched) - profiled.back());
    if (const std::optional<double> seconds = event_seconds(model, pass)) by_events.push_back(*seconds);
  }
  model.observe(nullptr);

  ProfilingCheck check{.passes = static_cast<int64_t>(plain.size()),
                       .plain_s = median(plain),
                       .profiled_s = median(profiled),
                       .recorded_kernels_s = median(recorded),
                       .start_stop_s = median(around)};
  if (!by_events.empty()) check.timed_kernels_s = median(by_events);
  return check;
}

}  // namespace convlab
