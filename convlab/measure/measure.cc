// Times one kernel and fills in its Record.

#include "convlab/measure/measure.h"

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/kernels/step_text.h"
#include "convlab/kernels/step_work.h"
#include "convlab/measure/contention.h"

namespace convlab {
namespace {

/// The share of the bound that a measured time may go down to. Ceilings are measured, too: a machine that was busy then
/// may be faster now, a shared host much faster.
double tolerance(DeviceKind device) { return device == DeviceKind::cuda ? 0.85 : 0.5; }

void refuse_the_impossible(const Kernel& kernel, const Step& step, const Ceilings& ceilings, double bytes,
                           double milliseconds) {
  const double arithmetic = kernel.info.sum == Sum::transform ? 0 : flops(step);
  const Bound floor = ceilings.bound(arithmetic, bytes, kernel.info.math);
  if (milliseconds >= floor.seconds * 1e3 * tolerance(kernel.info.device)) return;
  throw unavailable(
      "measured {:.4f} ms, below the bound of {:.4f} ms ({}): the clock or the ceiling is wrong; run 'convlab bench "
      "--ceilings' to measure the machine again",
      milliseconds, floor.seconds * 1e3, name_of(floor.limit));
}

/// Throws Error(unavailable) if the device's time for a launch exceeds the host's, which includes it. Two clocks may
/// differ by 2 %.
void refuse_clocks_that_disagree(const Record& record) {
  constexpr double kTolerance = 1.02;
  if (record.hot_ms.median <= record.op_ms.median * kTolerance) return;
  throw unavailable(
      "{} on {}: device clock shows {:.4f} ms, more than the {:.4f} ms of the host clock around it: one of them is "
      "wrong",
      record.kernel, record.problem, record.hot_ms.median, record.op_ms.median);
}

}  // namespace

Record measure(const Kernel& kernel, BenchArrays& arrays, const Ceilings& ceilings, const Effort& effort,
               Checked checked, std::span<const int> tuning) {
  const Step& step = arrays.step();
  const DeviceCaps& caps = arrays.device().caps();
  Record record{.kernel = std::string(kernel.info.name),
                .problem = problem_text(step),
                .math = std::string(name_of(kernel.info.math)),
                .device = caps.kind,
                .rung = kernel.info.rung,
                .epilogue = to_text(step.epilogue),
                .layout = step.outputs[0].format.order == Order::nchw ? "" : name_of(step.outputs[0].format)};
  for (size_t i = 0; i < kernel.tunables.size(); ++i) {
    const Tunable& tunable = kernel.tunables[i];
    record.tuning[std::string(tunable.name)] = tuning.empty() ? tunable.value : tuning[i];
  }
  record.before = machine_state(caps);
  KernelBench bench(kernel, arrays, checked, tuning);
  record.prepare_ms = bench.prepare_ms();
  record.choice = bench.choice();
  std::vector<double> device_ms, op_ms, layer_ms;
  const Contention contention;
  const Summary counted = sample(effort, [&](bool end) {
    const KernelBench::Times times = bench.run(Caches::hot, end);
    device_ms.push_back(times.device_ms);
    op_ms.push_back(times.op_ms);
    if (times.layer_ms > 0) layer_ms.push_back(times.layer_ms);
    record.computes_in_prolog |= times.early;
    return times.early ? times.layer_ms : times.device_ms;
  });
  record.hot_ms = summarize(std::move(device_ms));
  record.op_ms = summarize(std::move(op_ms));
  if (!layer_ms.empty()) record.layer_ms = summarize(std::move(layer_ms));
  record.cold_ms = sample(effort, [&](bool end) { return bench.run(Caches::cold, end).device_ms; });
  if (effort.graph > 0 && caps.records_graphs()) {
    record.graph_ms = sample(effort, [&](bool end) { return bench.replay(effort.graph, end); });
    record.graph = effort.graph;
  }
  if (caps.runs_on_host()) record.waited_share = contention.waited_share();
  record.after = machine_state(caps);
  refuse_clocks_that_disagree(record);

  const double bytes = compulsory_bytes(step);
  if (!record.waited_share || *record.waited_share <= kBusy) {
    refuse_the_impossible(kernel, step, ceilings, bytes, counted.min);
  }
  const double seconds = counted.median * 1e-3;
  record.gflops = operations(step) / seconds * 1e-9;
  record.gbps = bytes / seconds * 1e-9;
  const Bound bound = ceilings.bound(flops(step), bytes, kernel.info.math);
  record.bound_ms = bound.seconds * 1e3;
  record.share = bound.seconds / seconds;
  record.limit = name_of(bound.limit);
  record.ceilings = ceilings;
  record.machine = this_machine(caps);
  record.build = this_build();
  record.when = utc_now();
  return record;
}

}  // namespace convlab
