// Summarizes a GPU's counters as tables and limits.

#include "convlab/profile/counters.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace convlab {
namespace {

constexpr std::string_view kStall = "smsp__average_warps_issue_stalled_";

/// Translates "long_scoreboard" and other stall reasons into words.
std::string reason_in_words(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"long_scoreboard", "data from memory or L2"},
      {"short_scoreboard", "data from shared memory"},
      {"barrier", "other warps at a barrier"},
      {"math_pipe_throttle", "an arithmetic unit"},
      {"mio_throttle", "the queue to shared memory"},
      {"lg_throttle", "the queue to memory"},
      {"wait", "the latency of the previous instruction"},
      {"no_instruction", "instruction fetch"},
      {"branch_resolving", "branch resolution"},
      {"dispatch_stall", "dispatch"},
      {"drain", "stores to drain"},
      {"imc_miss", "constant cache misses"},
      {"membar", "a memory fence"},
      {"sleeping", "nanosleep"},
      {"tex_throttle", "the texture queue"},
  };
  for (const auto& [reason, words] : kWords) {
    if (name.starts_with(reason)) return std::string(words);
  }
  return std::string(name);
}

std::string percent(double value) { return std::isnan(value) ? "-" : fmt::format("{:.1f}", value); }

}  // namespace

std::string short_name(std::string kernel) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (size_t at = kernel.find(kAnonymous); at != std::string::npos; at = kernel.find(kAnonymous)) {
    kernel.erase(at, kAnonymous.size());
  }
  kernel = kernel.substr(0, kernel.find_first_of("<("));
  const size_t last = kernel.find_last_of(": ");
  return last == std::string::npos ? kernel : kernel.substr(last + 1);
}

double KernelCounters::value(std::string_view beginning) const {
  for (const auto& [name, value] : metrics) {
    if (name.starts_with(beginning)) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::string limit_of(const KernelCounters& counters) {
  constexpr double kBusyPercent = 60;
  const double compute = counters.value("sm__throughput"), memory = counters.value("gpu__compute_memory_throughput");
  if (compute >= kBusyPercent && compute >= memory) return fmt::format("compute, {:.0f} % of peak", compute);
  if (memory >= kBusyPercent) return fmt::format("memory, {:.0f} % of peak", memory);
  std::string longest;
  double most = 0;
  for (const auto& [name, value] : counters.metrics) {
    if (!name.starts_with(kStall)) continue;
    // These two are not stalls: the warp that issued, and warps that were eligible.
    const std::string_view reason = std::string_view(name).substr(kStall.size());
    if (reason.starts_with("selected") || reason.starts_with("not_selected")) continue;
    if (value > most) {
      most = value;
      longest = reason;
    }
  }
  return longest.empty() ? "latency" : "latency: warps wait for " + reason_in_words(longest);
}

std::string to_text(const Utilisation& utilisation) {
  if (!utilisation.refusal.empty()) return "no counters: " + utilisation.refusal + "\n";
  std::string text =
      "  compute   memory     DRAM       L2  occupancy  layer, kernel, limit\n"
      "        %        %        %        %          %\n";
  for (const KernelCounters& each : utilisation.kernels) {
    text += fmt::format("{:>9}{:>9}{:>9}{:>9}{:>11}  {}: {}: {}\n", percent(each.value("sm__throughput")),
                        percent(each.value("gpu__compute_memory_throughput")), percent(each.value("dram__throughput")),
                        percent(each.value("lts__throughput")), percent(each.value("sm__warps_active")), each.part,
                        short_name(each.kernel), limit_of(each));
  }
  return text;
}

}  // namespace convlab
