// Measures which kernel, with which values of its tunables, computes a problem fastest.

#include "app/tune_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "app/results/tune_json.h"
#include "convlab/base/error.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/format_refusal.h"
#include "convlab/kernels/preference.h"
#include "convlab/kernels/step_text.h"
#include "convlab/kernels/step_work.h"
#include "convlab/measure/interleaved.h"
#include "convlab/measure/pick.h"
#include "convlab/measure/step_arrays.h"
#include "convlab/measure/sweep.h"
#include "convlab/verify/ops/verify_op.h"

namespace convlab::app {
namespace {

/// A kernel with values for its tunables.
struct Contender {
  const Kernel* kernel;
  std::vector<int> tuning;  ///< by tunable; {}: the kernel's own choice
  std::string format;       ///< of input and output
  std::unique_ptr<KernelBench> bench;
  std::vector<double> times = {};  ///< ms

  double ms() const { return summarize(times).median; }

  /// Returns "block_rows=4 unroll=2", or "" for the kernel's own choice.
  std::string tuning_text() const {
    std::string text;
    for (size_t i = 0; i < tuning.size(); ++i) {
      text += fmt::format("{}{}={}", i == 0 ? "" : " ", kernel->tunables[i].name, tuning[i]);
    }
    return text;
  }
};

class KernelTuner {
 public:
  /// `seconds`: of measurements for each problem.
  KernelTuner(const TuneKernelsOptions& options, Device& device, double seconds, Output& output)
      : options_(options),
        device_(device),
        seconds_(seconds),
        output_(output),
        kernels_(kernels_matching(options.kernel, device.caps().kind)),
        oracle_(static_cast<int>(options.compute.threads)) {
    std::ranges::sort(kernels_, [](const Kernel* a, const Kernel* b) { return comes_before(a->info, b->info); });
    const Math math = options.compute.math();
    if (kernels_.size() > 1 || options.compute.asked_math) {
      std::erase_if(kernels_, [math](const Kernel* kernel) { return kernel->info.math > math; });
    }
    if (kernels_.empty()) {
      throw bad_input("--kernel {}: no matching kernel is as precise as {}; set --math", options.kernel, name_of(math));
    }
    // The reference kernel takes minutes, so it is timed only if the user names it.
    const auto is_reference = [](const Kernel* kernel) { return kernel->is_conv() && kernel->info.rung == 0; };
    if (kernels_.size() > 1) std::erase_if(kernels_, is_reference);
  }

  void tune(const Step& plain) {
    contenders_.clear();
    arrays_.clear();
    layer_.reset();
    for (const Kernel* kernel : kernels_) add(*kernel, plain);
    if (contenders_.empty()) {
      throw bad_input("{}: no kernel of '{}' supports it: {}", problem_text(plain), options_.kernel, refusals_);
    }
    drop_slow();
    const Pick pick = measured();
    print(plain, pick);
    note_result(plain, pick);
  }

  const std::vector<TunedProblem>& results() const { return results_; }

 private:
  void add(const Kernel& kernel, const Step& plain) {
    const DeviceCaps& caps = device_.caps();
    const std::optional<Step> step = in_supported_formats(kernel, plain, caps);
    if (!step) {
      if (refusals_.empty()) refusals_ = *refuse_in_all_formats(kernel, plain, caps);
      return;
    }
    const CaseResult result = verify_step(kernel, *step, device_, oracle_);
    if (result.outcome == Outcome::failed) {
      throw wrong_result("{} on {}: {}", kernel.info.name, problem_text(plain), result.reason);
    }
    if (result.outcome != Outcome::passed) return;
    add(kernel, {}, *step);
    std::vector<int> own;
    for (const Tunable& tunable : kernel.tunables) own.push_back(tunable.value);
    for (const std::vector<int>& tuning : tuning_grid(kernel.tunables)) {
      if (tuning != own) add(kernel, tuning, *step);
    }
  }

  void add(const Kernel& kernel, std::vector<int> tuning, const Step& step) {
    auto bench = std::make_unique<KernelBench>(kernel, arrays(step), Checked::ends, tuning);
    const std::string from = name_of(step.inputs[0].format), to = name_of(step.outputs[0].format);
    contenders_.push_back({&kernel, std::move(tuning), from == to ? from : from + " to " + to, std::move(bench)});
  }

  /// Returns arrays in the step's formats.
  BenchArrays& arrays(const Step& step) {
    const auto name = std::pair(name_of(step.inputs[0].format), name_of(step.outputs[0].format));
    std::unique_ptr<BenchArrays>& arrays = arrays_[name];
    if (!arrays) arrays = arrays_of(step, device_, oracle_, layer_);
    return *arrays;
  }

  /// Times each contender twice and gives up those that are much slower than the fastest; never the first, which is
  /// the planner's choice.
  void drop_slow() {
    double best = std::numeric_limits<double>::infinity();
    for (Contender& each : contenders_) {
      const TakeSample take = hot_launches(*each.bench, false);
      take(false);
      each.times = {std::min(take(false), take(false))};
      best = std::min(best, each.times[0]);
    }
    const auto is_good = [&](const Contender& each) {
      return &each == &contenders_[0] || each.times[0] <= kTooSlow * best;
    };
    const auto slow = std::stable_partition(contenders_.begin(), contenders_.end(), is_good);
    good_ = static_cast<size_t>(slow - contenders_.begin());
    for (size_t i = good_; i < contenders_.size(); ++i) contenders_[i].bench.reset();
  }

  Pick measured() {
    std::vector<TakeSample> series;
    for (size_t i = 0; i < good_; ++i) series.push_back(hot_launches(*contenders_[i].bench, false));
    const std::vector<std::vector<double>> times =
        take_rounds({.spread = 0.005, .seconds = seconds_, .least = static_cast<int>(kLeastTurns)}, series);
    std::vector<std::vector<double>> all;
    for (size_t i = 0; i < contenders_.size(); ++i) {
      if (i < good_) contenders_[i].times = times[i];
      all.push_back(contenders_[i].times);
    }
    return pick_way(all);
  }

  void print(const Step& plain, const Pick& pick) const {
    std::vector<const Contender*> sorted;
    size_t name_width = 6, tuning_width = 8;
    for (const Contender& each : contenders_) {
      sorted.push_back(&each);
      name_width = std::max(name_width, each.kernel->info.name.size());
      tuning_width = std::max(tuning_width, each.tuning_text().size());
    }
    std::ranges::stable_sort(sorted, {}, [](const Contender* each) { return each->ms(); });
    const double work = operations(plain);
    output_.print("{}{}\n{:<{}}  {:<{}}  {:>10}  {:>9}  {}\n", problem_text(plain),
                  work > 0 ? fmt::format(": {:.3f} GFLOP", work * 1e-9) : "", "kernel", name_width, "tunables",
                  tuning_width, "ms", "GFLOP/s", "format");
    constexpr size_t kShown = 12;
    for (size_t i = 0; i < std::min(sorted.size(), kShown); ++i) {
      const Contender& each = *sorted[i];
      const std::string tuning = each.tuning_text();
      output_.print("{:<{}}  {:<{}}  {:>10.4f}  {:>9}  {}\n", each.kernel->info.name, name_width,
                    tuning.empty() ? "-" : tuning, tuning_width, each.ms(),
                    work > 0 ? fmt::format("{:.1f}", work * 1e-6 / each.ms()) : "-", each.format);
    }
    if (sorted.size() > kShown) output_.print("{} slower ones\n", sorted.size() - kShown);
    output_.print("{}\n\n", verdict(pick));
  }

  std::string verdict(const Pick& pick) const {
    const Contender &first = contenders_[0], &taken = contenders_[pick.taken];
    const std::string name =
        std::string(taken.kernel->info.name) + (taken.tuning.empty() ? "" : " with " + taken.tuning_text());
    if (contenders_.size() == 1) return fmt::format("only {} supports it", name);
    if (pick.why == kFaster) {
      return fmt::format("fastest: {}, {:.3f} times as fast as the preferred {}", name, first.ms() / taken.ms(),
                         first.kernel->info.name);
    }
    return fmt::format("fastest: {}, which is also preferred; nothing else is clearly faster", name);
  }

  void note_result(const Step& plain, const Pick& pick) {
    TunedProblem& result = results_.emplace_back(
        TunedProblem{.problem = problem_text(plain), .fastest = pick.taken, .why = pick.why, .kernels = {}});
    for (const Contender& each : contenders_) {
      std::map<std::string, int> tuning;
      for (size_t i = 0; i < each.tuning.size(); ++i) {
        tuning[std::string(each.kernel->tunables[i].name)] = each.tuning[i];
      }
      result.kernels.push_back({std::string(each.kernel->info.name), std::move(tuning), each.ms(), each.times.size()});
    }
  }

  const TuneKernelsOptions& options_;
  Device& device_;
  const double seconds_;
  Output& output_;
  std::vector<const Kernel*> kernels_;  // preferred ones first
  Oracle oracle_;
  std::shared_ptr<const OracleLayer> layer_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<BenchArrays>> arrays_;  // by formats
  std::vector<Contender> contenders_;                                                   // destroyed before the arrays
  size_t good_ = 0;  // the first ones, which are measured interleaved
  std::string refusals_;
  std::vector<TunedProblem> results_;
};

}  // namespace

void tune_kernels(const TuneKernelsOptions& options, Output& output) {
  const std::unique_ptr<Device> device = open_device(options.compute.device, options.compute.device_options());
  if (!device->caps().has_real_times()) {
    throw bad_input("tune: --device simt is not supported, its times are not GPU times; use cpu or cuda");
  }
  const std::vector<Step> steps = chosen_steps(
      options.problems, {options.kernel}, options.images > 0 ? std::vector{options.images} : std::vector<int64_t>(), 1);
  output.print("{}\n\n", device->caps().description);
  KernelTuner tuner(options, *device, options.seconds / static_cast<double>(steps.size()), output);
  for (const Step& step : steps) tuner.tune(step);
  output.print(
      "each time is the median of interleaved launches with hot caches; conversions between formats are not timed\n");
  write_json(output, device->caps().kind, tuner.results());
}

}  // namespace convlab::app
