// Summarizes the times of kernel files that have a prolog and an epilog.

#include "app/results/file_times.h"

#include <fmt/format.h>

#include <string_view>

#include "convlab/kernel_file/file_kernel.h"
#include "convlab/measure/summary.h"

namespace convlab::app {
namespace {

template <class Value>
double median_of(const std::vector<PhaseSeconds>& launches, Value&& value) {
  std::vector<double> seconds;
  for (size_t i = launches.size() > 1 ? 1 : 0; i < launches.size(); ++i) seconds.push_back(value(launches[i]));
  return median(seconds);
}

}  // namespace

std::vector<FileTime> file_times() {
  std::vector<FileTime> times;
  for (const FilePhases& each : file_phases()) {
    times.push_back({.file = each.file,
                     .problem = each.problem,
                     .launches = std::ssize(each.launches),
                     .prolog_s = median_of(each.launches, [](const PhaseSeconds& launch) { return launch.prolog; }),
                     .call_s = median_of(each.launches, [](const PhaseSeconds& launch) { return launch.call; }),
                     .epilog_s = median_of(each.launches, [](const PhaseSeconds& launch) { return launch.epilog; }),
                     .layer_s = median_of(each.launches, [](const PhaseSeconds& launch) { return launch.layer(); }),
                     .early = each.early()});
  }
  return times;
}

std::string file_time_text(const FileTime& time) {
  return fmt::format("{} on {}: prolog to epilog {}; prolog {}, call (the Op Time) {}, epilog {}{}", time.file,
                     time.problem, time_text(time.layer_s), time_text(time.prolog_s), time_text(time.call_s),
                     time_text(time.epilog_s),
                     time.early ? ": this file computes in its prolog, so its Op Time is not comparable" : "");
}

std::string time_text(double seconds) {
  const auto text = [](double value, std::string_view unit) {
    return fmt::format("{:.{}f} {}", value, value >= 100 ? 0 : value >= 10 ? 1 : 2, unit);
  };
  if (seconds >= 1) return text(seconds, "s");
  return seconds >= 1e-3 ? text(seconds * 1e3, "ms") : text(seconds * 1e6, "us");
}

}  // namespace convlab::app
