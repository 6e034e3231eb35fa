// Verifies and times submissions on the CPU.

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "convlab/judge/judging.h"
#include "convlab/judge/ratio_sampling.h"
#include "convlab/kernel_file/host_command.h"
#include "convlab/kernels/registry.h"
#include "convlab/measure/ceilings.h"

namespace convlab::judge {
namespace fs = std::filesystem;

std::unique_ptr<CpuRun> Judging::cpu_run(const CpuRun::Kernel& kernel, const Task& task, double limit_s) const {
  return std::make_unique<CpuRun>(kernel, task.problem, work_, assignment_.limits, seconds_left(limit_s), in_jail_);
}

double Judging::sample(CpuRun& run, const Task& task, const Probe& probe, bool zeros, std::vector<float>& y,
                       double limit_s) {
  if (const std::optional<double> seconds = run.sample(probe, zeros, y)) {
    if (!run.changed_input(probe)) return *seconds;
    end_at(task, Verdict::wrong, "the submission changed its input", "");
  }
  const JailEnd end = run.end();
  if (!task.secret) keep_log(end.printed);
  const Json answer = run.answer();
  require_end(end, answer, task, "during the run", limit_s);
  require_no_words(answer, task);
  end_at(task, Verdict::wrong, "the submission ended the program", "");
}

void Judging::verify_on_cpu() {
  const double limit_s = assignment_.limits.verify_s;
  std::vector<float> y;
  for (const Task& task : tasks_) {
    hidden_if_secret(task, [&] {
      for (const Fill fill : fills_of(task)) {
        const std::unique_ptr<CpuRun> run = cpu_run({source_.path, library_}, task, limit_s);
        const Probe probe(task.problem, fill, judgement_.math, random_.next());
        sample(*run, task, probe, is_of_course(), y, limit_s);
        require_right(task, probe, y);
      }
    });
  }
}

CpuRun::Kernel Judging::reference_on_cpu() const {
  const Kernel& kernel = require_conv_kernel(assignment_.reference, DeviceKind::cpu);
  const fs::path file = header_root() / kernel.info.file;
  return {file, compile_kernel_file(read_kernel_source(file), Toolchain::cpu, {}).library};
}

void Judging::time_on_cpu() {
  const double limit_s = assignment_.limits.timing_s;
  const CpuRun::Kernel reference = reference_on_cpu();
  std::vector<std::unique_ptr<CpuRun>> ours, theirs;
  std::vector<const Task*> layers;
  for (const Task& task : tasks_) {
    if (task.secret) continue;
    layers.push_back(&task);
    ours.push_back(cpu_run({source_.path, library_}, task, limit_s));
    theirs.push_back(cpu_run(reference, task, limit_s));
  }
  std::vector<float> y, expected;
  std::vector<double> seconds(layers.size()), reference_s(layers.size());
  RatioSampling sampling;
  while (!sampling.enough(seconds_since(stage_begin_), limit_s)) {
    for (size_t i = 0; i < layers.size(); ++i) {
      const Task& task = *layers[i];
      const Probe probe(task.problem, Fill::reals, judgement_.math, random_.next());
      const auto reference_runs = [&] { reference_s[i] = sample(*theirs[i], task, probe, true, expected, limit_s); };
      const bool first = random_.next() % 2 == 0;
      if (!first) reference_runs();
      seconds[i] = sample(*ours[i], task, probe, is_of_course(), y, limit_s);
      if (first) reference_runs();
      require_right(task, probe, y);  // check every timed output
    }
    sampling.add(seconds, reference_s);
  }
  const Ceilings ceilings = measure_ceilings(*open_device("cpu", {}));
  require_possible(sampling.median_s(), ceilings);
  std::vector<double> bounds_s;
  for (const Task* each : layers) bounds_s.push_back(direct_bound_s(each->problem, ceilings, judgement_.math));
  keep_times(sampling, layers, bounds_s);
}

void Judging::require_possible(double seconds, const Ceilings& ceilings) const {
  double flops = 0;
  for (const ConvProblem& each : assignment_.layers) flops += each.flops();
  const double least_s = flops / kMostSavedFlops / ceilings.fp32_flops;
  if (seconds >= least_s) return;
  throw Ended{
      Verdict::refused,
      fmt::format(
          "{:.3g} s is impossible for {:.3g} FLOP: this machine reaches {:.3g} FLOP/s, and no algorithm saves more "
          "than {}/{} of the operations",
          seconds, flops, ceilings.fp32_flops, kMostSavedFlops - 1, kMostSavedFlops),
      ""};
}

}  // namespace convlab::judge
