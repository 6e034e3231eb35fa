// convlab measure-variants: the child process of `convlab ablate`, which has all variants of a kernel in its registry.
// It reports times, or counts, to its parent as JSON.

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/compute_options.h"
#include "app/guests/guest.h"
#include "app/guests/variants.h"
#include "app/results/progress_line.h"
#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/json.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/step_text.h"
#include "convlab/measure/contention.h"
#include "convlab/measure/interleaved.h"
#include "convlab/measure/record.h"
#include "convlab/measure/step_arrays.h"
#include "convlab/profile/count_kernel.h"
#include "convlab/verify/ops/verify_op.h"

namespace convlab::app {
namespace {

struct MeasureOptions {
  std::string problem;
  ComputeOptions compute;
  Effort effort;
  int64_t most_samples = 0;
  bool count = false;
  std::vector<std::string> kernels;
};

void report_failure(size_t number, bool refused, const std::string& reason) {
  tell_host(json_text(Json{{"kernel", number}, {"refused", refused}, {"reason", reason}}, -1));
}

/// Whether the kernel is correct; if not, reports why to the parent.
bool is_right(size_t number, const Kernel& kernel, const Step& step, Device& device, Oracle& oracle) {
  const CaseResult result = verify_step(kernel, step, device, oracle);
  if (result.outcome == Outcome::passed) return true;
  report_failure(number, result.outcome == Outcome::skipped, result.reason);
  return false;
}

Json counts_of(const std::vector<KernelCounts>& launched) {
  Json json = Json::object();
  for (const char* name : kCounts) json[name] = int64_t{0};
  const auto add = [&](const char* name, int64_t value) { json[name] = json[name].get<int64_t>() + value; };
  for (const KernelCounts& each : launched) {
    for (const AccessType type : {AccessType::load, AccessType::store, AccessType::atomic}) {
      const MemoryCounts global = each.total(MemorySpace::global, type), shared = each.total(MemorySpace::shared, type),
                         constant = each.total(MemorySpace::constant, type);
      add("requests", global.requests + shared.requests + constant.requests);
      add("global sectors", global.sectors);
      add("shared wavefronts", shared.wavefronts);
      add("constant wavefronts", constant.wavefronts);
      if (type == AccessType::atomic) add("atomics", global.requests + shared.requests);
    }
    add("flops", each.flops);
  }
  return json;
}

void count(const std::vector<const Kernel*>& kernels, const Step& step, Device& device) {
  for (size_t i = 0; i < kernels.size(); ++i) {
    try {
      const std::vector<KernelCounts> launches = count_kernel(*kernels[i], step, device);
      Json launched = Json::array();
      for (const KernelCounts& each : launches) launched.push_back(each.kernel);
      tell_host(json_text(Json{{"kernel", i}, {"counts", counts_of(launches)}, {"launched", std::move(launched)}}, -1));
    } catch (const Error& error) {
      report_failure(i, error.kind() == ErrorKind::bad_input, error.what());
    }
  }
}

/// Times the kernels and reports their times to the parent. Returns the share of its time that this process waited for
/// a CPU, if the system reports it; nullopt for GPUs.
std::optional<double> time(const std::vector<const Kernel*>& kernels, const Step& step, Device& device,
                           const Effort& effort, Oracle& oracle) {
  std::shared_ptr<const OracleLayer> layer;
  const std::unique_ptr<BenchArrays> arrays = arrays_of(step, device, oracle, layer);
  std::vector<std::unique_ptr<KernelBench>> benches;
  std::vector<size_t> numbers;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!is_right(i, *kernels[i], step, device, oracle)) continue;
    try {
      auto bench = std::make_unique<KernelBench>(*kernels[i], *arrays);
      bench->run(Caches::hot, /*end=*/true);  // must be correct at this size, too
      benches.push_back(std::move(bench));
      numbers.push_back(i);
    } catch (const Error& error) {
      report_failure(i, error.kind() != ErrorKind::wrong_result, error.what());
    }
  }
  if (benches.empty()) return std::nullopt;
  std::vector<KernelBench*> all;
  for (const auto& each : benches) all.push_back(each.get());
  const bool layers = are_whole_layers(all);
  std::vector<TakeSample> series;
  for (KernelBench* each : all) series.push_back(hot_launches(*each, layers));
  Progress progress("timing", static_cast<int64_t>(effort.seconds * 1e3));
  const Clock::time_point begin = Clock::now();
  series.front() = [&, take = series.front(), reported = int64_t{0}](bool end) mutable {
    const auto now = static_cast<int64_t>(seconds_since(begin) * 1e3);
    progress.advance(now - std::exchange(reported, now));
    return take(end);
  };
  const Contention contention;
  const std::vector<std::vector<double>> samples = take_rounds(effort, series);
  const std::optional<double> waited = contention.waited_share();
  for (size_t i = 0; i < numbers.size(); ++i) {
    tell_host(json_text(Json{{"kernel", numbers[i]}, {"ms", samples[i]}}, -1));
  }
  return device.caps().runs_on_host() ? waited : std::nullopt;
}

void measure_variants_here(const MeasureOptions& options) {
  const std::unique_ptr<Device> device = open_device(options.compute.device, options.compute.device_options());
  const DeviceCaps& caps = device->caps();
  device->make_current();
  tell_host(json_text(Json{{"device", caps.name}}, -1));
  const Step step = parse_step(options.problem);
  std::vector<const Kernel*> kernels;
  for (const std::string& name : options.kernels) kernels.push_back(&require_kernel(name, caps.kind));

  const MachineState before = machine_state(caps);
  std::optional<double> waited;
  if (options.count) {
    count(kernels, step, *device);
  } else {
    Oracle oracle(static_cast<int>(options.compute.threads));
    Effort effort = options.effort;
    effort.most = static_cast<int>(options.most_samples);
    waited = time(kernels, step, *device, effort, oracle);
  }
  Json where{{"machine", to_json(this_machine(caps))},
             {"build", to_json(this_build())},
             {"state", {{"before", to_json(before)}, {"after", to_json(machine_state(caps))}}}};
  if (waited) where["waited_share"] = *waited;
  where["when"] = utc_now();
  tell_host(json_text(where, -1));
}

}  // namespace

Action declare_measure_variants(CLI::App& parser) {
  auto options = std::make_shared<MeasureOptions>();
  constexpr double kMostSeconds = 1e6;
  add_text(parser, "--problem", options->problem, "TEXT", "");
  add_device(parser, options->compute);
  add_threads(parser, options->compute);
  add_real(parser, "--seconds", options->effort.seconds, 0, kMostSeconds, "");
  add_int(parser, "--samples", options->most_samples, 1, 1'000'000, "");
  add_real(parser, "--spread", options->effort.spread, 0, 1, "");
  add_flag(parser, "--count", options->count, "");
  add_texts(parser, "KERNELS", options->kernels, 1, kAnyNumber, "", "");
  return [options](Output&) { measure_variants_here(*options); };
}

}  // namespace convlab::app
