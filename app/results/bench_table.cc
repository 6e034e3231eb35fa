// Prints the times of kernels as a table.

#include "app/results/bench_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/problems.h"
#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/step_text.h"
#include "convlab/kernels/step_work.h"
#include "convlab/measure/contention.h"

namespace convlab::app {
namespace {

/// Returns "1.2%", ">100%" for any larger spread, or "-" if there are too few samples.
std::string spread_text(const Summary& summary) {
  if (!std::isfinite(summary.spread())) return "-";
  return summary.spread() <= 1 ? fmt::format("{:.1f}%", 100 * summary.spread()) : ">100%";
}

}  // namespace

bool was_busy(const Record& record) { return record.waited_share && *record.waited_share > kBusy; }

BenchTable::BenchTable(Output& output, const std::vector<const Kernel*>& kernels) : output_(output) {
  for (const Kernel* kernel : kernels) width_ = std::max(width_, kernel->info.name.size());
}

void BenchTable::legend() {
  output_.print(
      "hot: launches back to back; cold: caches flushed before each; Op Time: host time of one hot launch\n"
      "+-: half the 95 % confidence interval of the median (- with fewer than six samples)\n"
      "roofline: minimum time for the arithmetic and the memory traffic\n{}",
      kProblemLegend);
}

void BenchTable::begin(const Step& step, const Ceilings& ceilings) {
  const std::string epilogue = step.epilogue.empty() ? "" : ", then " + to_text(step.epilogue);
  const double bytes = is_conv(step) ? conv_step(step).problem.compulsory_bytes(4, 4) : compulsory_bytes(step);
  const Bound bound = ceilings.bound(flops(step), bytes, Math::fp32);
  output_.print("\n{}{}: {:.3f} GFLOP, {:.1f} MB, fp32 roofline {:.4f} ms ({})\n", problem_text(step), epilogue,
                operations(step) * 1e-9, bytes * 1e-6, bound.seconds * 1e3, name_of(bound.limit));
  output_.print("{:<{}}  {:<6}  {:>10}  {:>6}  {:>10}  {:>12}  {:>9}  {:>7}  {:>13}\n", "kernel", width_, "math",
                "hot (ms)", "+-", "cold (ms)", "Op Time (ms)", "GFLOP/s", "GB/s", "of roofline");
}

void BenchTable::row(const Record& record) {
  output_.print("{:<{}}  {:<6}  {:>10.4f}  {:>6}  {:>10.4f}  {:>12.4f}  {:>9.1f}  {:>7.1f}  {:>11.1f} %{}\n",
                record.kernel, width_, record.math, record.hot_ms.median, spread_text(record.hot_ms),
                record.cold_ms.median, record.op_ms.median, record.gflops, record.gbps, 100 * record.share,
                was_busy(record) ? "  BUSY" : "");
  if (record.graph_ms) {
    output_.print("{:<{}}  {:.4f} ms +- {} per launch of {} launches in one CUDA graph\n", "", width_,
                  record.graph_ms->median, spread_text(*record.graph_ms), record.graph);
  }
  if (record.layer_ms) {
    output_.print(
        "{:<{}}  prolog to epilog {:.4f} ms +- {}: {}\n", "", width_, record.layer_ms->median,
        spread_text(*record.layer_ms),
        record.computes_in_prolog
            ? "this file computes in its prolog; rates use this time, the times of its call are not comparable"
            : "the other times are of its call alone");
  }
  if (!record.choice.empty()) output_.print("{:<{}}  {}\n", "", width_, record.choice);
  if (!record.layout.empty()) {
    output_.print("{:<{}}  layout: {}; conversion from and to nchw is not timed\n", "", width_, record.layout);
  }
}

void BenchTable::untimed(const Kernel& kernel, Outcome outcome, const std::string& reason) {
  output_.print("{:<{}}  {:<6}  {}: {}\n", kernel.info.name, width_, name_of(kernel.info.math), name_of(outcome),
                reason);
}

}  // namespace convlab::app
