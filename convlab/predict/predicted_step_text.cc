// Formats predicted steps as text.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "convlab/base/text.h"
#include "convlab/kernels/step_text.h"
#include "convlab/predict/amount.h"
#include "convlab/predict/predicted_step.h"

namespace convlab {
namespace {

/// Returns a kernel's use of a resource, summed over all functions; nullopt if it does not use it.
std::optional<Resource> total(const KernelTime& time, std::string_view name) {
  Resource sum;
  double seconds = 0;
  for (const FunctionTime& function : time.functions) {
    for (const Resource& resource : function.resources) {
      if (resource.name != name) continue;
      sum = {.name = resource.name, .unit = resource.unit, .count = sum.count + resource.count};
      seconds += resource.seconds();
    }
  }
  if (!(seconds > 0)) return std::nullopt;
  sum.rate = sum.count / seconds;
  return sum;
}

struct Row {
  std::string_view quantity;
  std::function<double(const KernelTime&)> value;
  std::string_view resource = {};  ///< the resource with its arithmetic in the last column
};

Row counted(std::string_view quantity, double Quantities::*member, std::string_view resource = {}) {
  return {quantity, [member](const KernelTime& time) { return time.quantities().*member; }, resource};
}

const auto& rows() {
  static const std::array kRows{
      counted("memory traffic, bytes", &Quantities::memory_bytes, "memory"),
      counted("L2 traffic, bytes", &Quantities::cache_bytes, "L2"),
      counted("global memory requests", &Quantities::global_requests),
      counted("global memory sectors", &Quantities::global_sectors),
      counted("shared memory requests", &Quantities::shared_requests),
      Row{"global and shared requests",
          [](const KernelTime& time) { return time.quantities().global_requests + time.quantities().shared_requests; },
          "latency"},
      Row{"global and shared wavefronts",
          [](const KernelTime& time) {
            const Quantities sum = time.quantities();
            return sum.global_wavefronts + sum.shared_wavefronts;
          },
          "L1 and shared memory"},
      counted("wavefronts for bank conflicts", &Quantities::bank_conflicts),
      counted("atomic requests", &Quantities::atomic_requests),
      counted("flops", &Quantities::flops, "fp32 arithmetic"),
      counted("tensor core flops, tf32", &Quantities::tf32_flops, "tf32 tensor cores"),
      counted("tensor core flops, fp16", &Quantities::half_flops, "fp16 tensor cores"),
      counted("warp instructions", &Quantities::instructions, "instruction issue"),
      Row{"active lanes per warp, of 32", [](const KernelTime& time) { return time.quantities().active_lanes(); }},
      Row{"warps per multiprocessor", [](const KernelTime& time) { return time.slowest().resident_warps; }},
      Row{"registers per thread", [](const KernelTime& time) { return static_cast<double>(time.slowest().registers); }},
      Row{"launches",
          [](const KernelTime& time) {
            double sum = 0;
            for (const FunctionTime& function : time.functions) sum += function.launches;
            return sum;
          },
          "launch overhead"},
  };
  return kRows;
}

/// Of one kernel.
std::string table_of(const KernelTime& time) {
  constexpr std::string_view kRow = "  {:<36} {:>9}  {}\n";
  std::string text = fmt::format(fmt::runtime(kRow), "quantity", "amount", "time");
  for (const Row& row : rows()) {
    const double value = row.value(time);
    if (value == 0) continue;
    const std::optional<Resource> resource = total(time, row.resource);
    text += fmt::format(fmt::runtime(kRow), row.quantity, amount(value), resource ? arithmetic(*resource) : "");
  }
  return text;
}

std::string table_of(const LadderStep& step) {
  if (!step.before) return table_of(step.after.time);
  constexpr std::string_view kRow = "  {:<36} {:>9} {:>9} {:>7}  {}\n";
  std::string text =
      fmt::format(fmt::runtime(kRow), "quantity", "before", "after", "change", "time of the kernel after");
  for (const Row& row : rows()) {
    const double before = row.value(step.before->time), after = row.value(step.after.time);
    if (before == 0 && after == 0) continue;
    const std::optional<Resource> resource = total(step.after.time, row.resource);
    text +=
        fmt::format(fmt::runtime(kRow), row.quantity, amount(before), amount(after),
                    before == 0 ? "new" : fmt::format("{:.2f}", after / before), resource ? arithmetic(*resource) : "");
  }
  return text;
}

std::string limits_of_functions(const Prediction& prediction) {
  std::string text;
  for (const FunctionTime& function : prediction.time.functions) {
    constexpr size_t kShown = 3;
    std::string parts;
    for (size_t i = 0; i < std::min(kShown, function.resources.size()); ++i) {
      const Resource& resource = function.resources[i];
      parts += fmt::format("{}{} {}",
                           i == 0   ? ""
                           : i == 1 ? "; also "
                                    : ", ",
                           resource.name, milliseconds(resource.seconds()));
    }
    if (function.occupancy.warps == 0) {  // filling memory
      text += fmt::format("  {}: {}: {}\n", prediction.work.kernel, function.function, parts);
      continue;
    }
    const bool grid = function.resident_warps < function.occupancy.warps;
    text +=
        fmt::format("  {}: {}: {}; {:.3g} warps per multiprocessor, limited by {}{}\n", prediction.work.kernel,
                    function.function, parts, function.resident_warps, grid ? "the grid" : function.occupancy.limiter,
                    function.registers > 0 ? fmt::format(" ({} registers per thread)", function.registers)
                                           : " (registers unknown)");
  }
  return text;
}

/// Possible causes of a time above, or below, the prediction.
struct Hint {
  std::string_view limit, slower, faster;
};

constexpr std::array kHints{
    Hint{"instruction issue",
         "schedulers without a ready warp (barriers, dependent loads, few warps), or instructions that nvcc adds",
         "nvcc generates fewer instructions than the host compiler: it merges loads, hoists loop invariants and "
         "unrolls loops"},
    Hint{"L1 and shared memory", "L1 misses that L2 must serve, or dependent loads",
         "nvcc merges adjacent loads, or keeps values in registers"},
    Hint{"memory", "sectors loaded more than once because no cache keeps them, or stores of partial lines",
         "L2 holds data that the model loads from memory"},
    Hint{"L2", "atomic operations on one address, which are serialized, or sectors loaded more than once",
         "L1 holds data that the model loads from L2"},
    Hint{"latency", "waits longer than an L1 hit: L2, memory, barriers", "requests of one warp overlap"},
    Hint{"launch overhead", "launches with small grids that run alone", "launches overlap"},
};

constexpr Hint kHintForArithmetic{"", "operands that arrive late: loads and their order", "nvcc removes arithmetic"};

std::string hint_for(const Prediction& prediction, double miss) {
  const auto found = std::ranges::find(kHints, prediction.limit().name, &Hint::limit);
  const Hint& hint = found == kHints.end() ? kHintForArithmetic : *found;
  return miss > 1 ? fmt::format("Possible causes: {}", hint.slower) : fmt::format("Possibly {}", hint.faster);
}

}  // namespace

std::string conditions_text(const GpuRates& rates, const KernelWork& work) {
  if (work.images == 0) return fmt::format("{}; counted on simt", rates.device);
  return fmt::format("{}; counted for {} image{} on simt, scaled by {:.6g}", rates.device, work.counted_images,
                     work.counted_images == 1 ? "" : "s", work.scale());
}

std::string to_text(const LadderStep& step) {
  const KernelWork& work = step.after.work;
  return fmt::format("{}: {}.\n  on {}\n{}Limits:\n{}{}", problem_text(work.step), claim(step),
                     conditions_text(step.rates, work), table_of(step),
                     step.before ? limits_of_functions(*step.before) : "", limits_of_functions(step.after));
}

std::string compared_text(const LadderStep& step, const MeasuredStep& measured) {
  const double after = step.after.time.seconds() * 1e3;
  constexpr std::string_view kRow = "  {:<36} {:>11} {:>11} {:>9}\n";
  std::string text = fmt::format(fmt::runtime(kRow), fmt::format("on {}", text_before(measured.device, ',')),
                                 "predicted", "measured", "ratio");
  const auto row = [&](std::string_view name, double predicted, double seen, std::string_view unit) {
    text += fmt::format(fmt::runtime(kRow), name, fmt::format("{:.4g}{}", predicted, unit),
                        fmt::format("{:.4g}{}", seen, unit), fmt::format("{:.2f}", seen / predicted));
  };
  double over = measured.after_ms / after;
  const Prediction* worst = &step.after;
  if (step.before) {
    const double before = step.before->time.seconds() * 1e3, over_before = measured.before_ms / before;
    row(step.before->work.kernel, before, measured.before_ms, " ms");
    row(step.after.work.kernel, after, measured.after_ms, " ms");
    row("second / first", step.ratio(), measured.ratio(), "");
    const bool right = change_of(step.ratio()) == change_of(measured.ratio());
    text += fmt::format("Measured: {}; predicted: {} ({}).\n", change_of(measured.ratio()), change_of(step.ratio()),
                        right ? "correct" : "wrong");
    const auto miss = [](double ratio) { return std::max(ratio, 1 / ratio); };
    if (miss(over_before) > miss(over)) over = over_before, worst = &*step.before;
  } else {
    row(step.after.work.kernel, after, measured.after_ms, " ms");
  }
  return text + fmt::format(
                    "Largest error: {} takes {:.2f} times as long as predicted from {}. {}.\n  Run 'convlab profile "
                    "--device cuda --counters' to see which unit of the GPU is the busiest.\n",
                    worst->work.kernel, over, worst->limit().name, hint_for(*worst, over));
}

}  // namespace convlab
