// convlab bench: times kernels and compares them with a library and with the machine's roofline.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/compute_options.h"
#include "app/guests/guest_kernels.h"
#include "app/problems.h"
#include "app/results/bench_results.h"
#include "app/results/bench_table.h"
#include "app/results/ceilings_text.h"
#include "app/results/progress_line.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/conv/epilogue_text.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/format_refusal.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/step_text.h"
#include "convlab/kernels/step_work.h"
#include "convlab/measure/contention.h"
#include "convlab/measure/interleaved.h"
#include "convlab/measure/measure.h"
#include "convlab/measure/step_arrays.h"
#include "convlab/measure/sweep.h"
#include "convlab/verify/ops/verify_op.h"

namespace convlab::app {
namespace {

constexpr const char* kAllKernels = "*";

struct BenchOptions {
  std::string file, kernel = kAllKernels, against;
  ProblemOptions problems;
  std::vector<int64_t> images;
  Epilogue epilogue;
  std::optional<Math> math;
  ComputeOptions compute;
  Effort effort;
  int64_t most_samples = 500, graph = 0;
  bool sweep = false, ceilings = false;
};

/// Enough to keep a GPU busy for a while, or a host for less than a second. simt is slow: it executes GPU threads on
/// the host.
int64_t default_images(DeviceKind device) {
  switch (device) {
    case DeviceKind::cuda:
      return 10000;
    case DeviceKind::cpu:
      return 1000;
    case DeviceKind::simt:
      return 2;
  }
  return 1;
}

/// Throws Error(bad_input) if the output is empty.
void require_outputs(const ConvStep& step) {
  const Shape shape = step.output_shape();
  if (element_count(shape) > 0) return;
  throw bad_input("--epilogue {}: pooling window is larger than the {}x{} output of {}", to_text(step.epilogue),
                  step.problem.p(), step.problem.q(), to_text(step.problem));
}

/// Returns the steps to time, in nchw.
std::vector<Step> steps_to_time(const BenchOptions& options, DeviceKind device) {
  std::vector<Step> steps =
      chosen_steps(options.problems, {options.kernel, options.against}, options.images, default_images(device));
  for (Step& step : steps) {
    if (!is_conv(step)) {
      step.epilogue = options.epilogue;
      continue;
    }
    const ConvStep conv{.problem = conv_step(step).problem, .epilogue = options.epilogue};
    require_outputs(conv);
    step = conv;
  }
  return steps;
}

std::vector<const Kernel*> chosen_kernels(const BenchOptions& options, DeviceKind device,
                                          const std::vector<Step>& steps) {
  std::vector<const Kernel*> kernels = kernels_matching(options.kernel, device);
  const bool convs = std::ranges::any_of(steps, is_conv), others = !std::ranges::all_of(steps, is_conv);
  if (kernels.size() > 1) {
    std::erase_if(kernels, [&](const Kernel* kernel) { return kernel->is_conv() ? !convs : !others; });
  }
  // The reference kernel takes minutes, so it is timed only if the user names it.
  if (options.kernel == kAllKernels) {
    std::erase_if(kernels, [](const Kernel* kernel) { return kernel->info.rung == 0; });
  }
  // Without --sweep and --against, we also time the library.
  for (const Kernel& kernel : conv_kernels()) {
    const bool is_library =
        convs && kernel.info.device == device && kernel.info.library && !options.sweep && options.against.empty();
    if (is_library && std::find(kernels.begin(), kernels.end(), &kernel) == kernels.end()) kernels.push_back(&kernel);
  }
  if (options.math) {
    std::erase_if(kernels, [&](const Kernel* kernel) { return kernel->info.math != *options.math; });
    if (kernels.empty())
      throw bad_input("--kernel {}: no matching kernel computes in {}", options.kernel, name_of(*options.math));
  }
  return kernels;
}

/// simt executes GPU threads on the host: what is faster here may be slower on a GPU.
std::string_view caveat(const Device& device) {
  return device.caps().has_real_times()
             ? ""
             : "; simt's times are not GPU times: 'convlab predict' estimates which is faster on a GPU";
}

void print_comparison(Output& output, const Device& device, const Kernel& first, const Kernel& second,
                      const Comparison& comparison) {
  output.print("{} against {}: {}", first.info.name, second.info.name, name_of(comparison.decision));
  if (!comparison.doubt.empty()) {
    output.print(": {}{}\n", comparison.doubt, caveat(device));
  } else if (!std::isfinite(comparison.interval.high)) {
    output.print(": {} pairs of launches are too few to decide; increase --seconds\n", comparison.first.samples.size());
  } else {
    output.print(", takes {:.4f} times as long{} (99 % interval {:.4f} to {:.4f}; {} interleaved pairs){}\n",
                 comparison.ratio, comparison.layers ? " from prolog to epilog" : "", comparison.interval.low,
                 comparison.interval.high, comparison.first.samples.size(), caveat(device));
  }
}

std::string tuning_text(const std::map<std::string, int>& tuning) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : tuning) parts.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(parts, " "));
}

/// Times every combination of the kernel's tunables; prints the best ones and the kernel's own choice.
std::vector<Record> sweep(const Kernel& kernel, BenchArrays& arrays, const Ceilings& ceilings, const Effort& effort,
                          Output& output) {
  const std::vector<std::vector<int>> grid = tuning_grid(kernel.tunables);
  std::vector<Record> records;
  {
    Progress progress(fmt::format("sweeping {}", kernel.info.name), static_cast<int64_t>(grid.size()));
    for (const std::vector<int>& tuning : grid) {
      records.push_back(measure(kernel, arrays, ceilings, effort, Checked::ends, tuning));
      progress.advance(1);
    }
  }
  std::map<std::string, int> chosen;
  for (const Tunable& tunable : kernel.tunables) chosen[std::string(tunable.name)] = tunable.value;
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return a.hot_ms.median < b.hot_ms.median; });
  output.print("\n{} on {}: {} combinations\n", kernel.info.name, problem_text(arrays.step()), records.size());
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < records.size(); ++i) {
    if (i >= kShown && records[i].tuning != chosen) continue;
    const char* mark = i == 0 ? "best" : records[i].tuning == chosen ? "chosen" : "";
    if (i == 0 && records[i].tuning == chosen) mark = "best and chosen";
    output.print("{:>4}  {:>10.4f} ms  {}  {}\n", i + 1, records[i].hot_ms.median, tuning_text(records[i].tuning),
                 mark);
  }
  return records;
}

/// Times the kernels of one session, problem by problem.
class Session {
 public:
  Session(const BenchOptions& options, Device& device, std::vector<const Kernel*> kernels, const Ceilings& ceilings,
          Output& output, BenchResults& results)
      : options_(options),
        device_(device),
        kernels_(std::move(kernels)),
        other_(options.against.empty() ? nullptr : &require_kernel(options.against, device.caps().kind)),
        ceilings_(ceilings),
        output_(output),
        results_(results),
        table_(output, kernels_),
        oracle_(static_cast<int>(options.compute.threads)) {
    effort_.most = static_cast<int>(options.most_samples);
    effort_.graph = static_cast<int>(options.graph);
    if (!special()) table_.legend();
  }

  void time(const Step& plain) {
    if (!special()) table_.begin(plain, ceilings_);
    arrays_.reset();
    layer_.reset();
    std::vector<Timed> timed;
    for (const Kernel* kernel : kernels_) {
      attempt(*kernel, [&] { time(*kernel, plain, timed); });
    }
    for (const Timed& library : timed) {
      if (library.kernel->info.library) attempt(*library.kernel, [&] { compare_best(plain, timed, library); });
    }
  }

  /// Whether a kernel computed wrong results.
  bool wrong() const { return wrong_; }

  /// Whether some times are not valid because the machine was busy.
  bool busy() const { return busy_; }

 private:
  struct Timed {
    const Kernel* kernel;
    double median_ms;
    bool plain;
    size_t index;  ///< of the Record
  };

  /// Whether it is reported that the kernel does not support the step: a named one always, others for convolutions.
  bool reports_refusal(const Kernel& kernel, const Step& plain) const {
    return kernels_.size() == 1 || (is_conv(plain) && kernel.is_conv());
  }

  /// --sweep and --against show no table.
  bool special() const { return options_.sweep || other_ != nullptr; }

  /// Calls `work` for a kernel. Reports an error, which may show that the kernel is wrong, and goes on.
  void attempt(const Kernel& kernel, const std::function<void()>& work) {
    try {
      work();
    } catch (const Error& error) {
      untimed(kernel, {error.kind() == ErrorKind::wrong_result ? Outcome::failed : Outcome::skipped, error.what()});
    } catch (const std::bad_alloc&) {
      untimed(kernel, {Outcome::skipped, "out of memory; use a smaller -n"});
    }
  }

  void untimed(const Kernel& kernel, const CaseResult& result) {
    wrong_ |= result.outcome == Outcome::failed;
    table_.untimed(kernel, result.outcome, result.reason);
  }

  void time(const Kernel& kernel, const Step& plain, std::vector<Timed>& timed) {
    const std::optional<Step> supported = in_supported_formats(kernel, plain, device_.caps());
    if (!supported) {
      if (!reports_refusal(kernel, plain)) return;
      return untimed(kernel, {Outcome::skipped, *refuse_in_all_formats(kernel, plain, device_.caps())});
    }
    const Step& step = *supported;
    for (const Kernel* each : {&kernel, other_}) {
      if (each == nullptr) continue;
      const CaseResult result = verify_step(*each, step, device_, oracle_);
      if (result.outcome != Outcome::passed) return untimed(*each, result);
    }
    if (options_.sweep) {
      if (kernel.tunables.empty()) return untimed(kernel, {Outcome::skipped, "kernel has no tunables"});
      for (const Record& record : sweep(kernel, arrays(step), ceilings_, effort_, output_)) add(record);
    } else if (other_ != nullptr) {
      compare(kernel, arrays(step));
    } else {
      const Record record = measure(kernel, arrays(step), ceilings_, effort_);
      table_.row(record);
      const bool plain = record.layout.empty() && !record.computes_in_prolog;  // comparable with a library
      timed.push_back({&kernel, record.hot_ms.median, plain, add(record)});
    }
  }

  size_t add(const Record& record) {
    busy_ |= was_busy(record);
    return results_.add(record);
  }

  void compare(const Kernel& kernel, BenchArrays& arrays) {
    const size_t index = add(measure(kernel, arrays, ceilings_, effort_));
    add(measure(*other_, arrays, ceilings_, effort_));
    output_.print("\n{}: ", problem_text(arrays.step()));
    compare_pair(kernel, *other_, arrays, index);
  }

  void compare_pair(const Kernel& kernel, const Kernel& other, BenchArrays& arrays, size_t index) {
    KernelBench first(kernel, arrays), second(other, arrays);
    const Comparison comparison = compare_kernels(effort_, first, second);
    print_comparison(output_, device_, kernel, other, comparison);
    results_.compared(index, other, comparison);
  }

  /// Compares the fastest of our own kernels with the library in the same math, interleaved, on nchw arrays.
  void compare_best(const Step& plain, const std::vector<Timed>& timed, const Timed& library) {
    const Timed* best = nullptr;
    for (const Timed& each : timed) {
      const bool alike =
          each.kernel->info.math == library.kernel->info.math && each.plain && !each.kernel->info.library;
      if (alike && (best == nullptr || each.median_ms < best->median_ms)) best = &each;
    }
    if (best == nullptr) return;
    constexpr double kLaunches = 4, kPatience = 10;  // per kernel and round; multiple of effort_.seconds
    const double seconds = kLaunches * effort_.least * (best->median_ms + library.median_ms) * 1e-3;
    if (seconds > kPatience * effort_.seconds) {
      output_.print("{} against {}: {}: a comparison would take {:.1f} s; use --seconds {:.1f}\n",
                    best->kernel->info.name, library.kernel->info.name, name_of(Decision::undecided), seconds,
                    seconds / kPatience);
      return;
    }
    compare_pair(*best->kernel, *library.kernel, arrays(plain), best->index);
  }

  /// Returns arrays for this step; reuses the current ones if they have its formats.
  BenchArrays& arrays(const Step& step) {
    const auto formats = [](const Step& each) { return std::pair(each.inputs[0].format, each.outputs[0].format); };
    if (arrays_ && formats(arrays_->step()) == formats(step)) return *arrays_;
    arrays_.reset();  // first, because both may not fit into memory
    arrays_ = arrays_of(step, device_, oracle_, layer_);
    return *arrays_;
  }

  const BenchOptions& options_;
  Device& device_;
  std::vector<const Kernel*> kernels_;
  const Kernel* other_;
  const Ceilings& ceilings_;
  Effort effort_ = options_.effort;
  Output& output_;
  BenchResults& results_;
  BenchTable table_;
  Oracle oracle_;
  std::shared_ptr<const OracleLayer> layer_;
  std::unique_ptr<BenchArrays> arrays_;
  bool wrong_ = false, busy_ = false;
};

void bench(const BenchOptions& options, Output& output) {
  BenchResults results(output);  // before the device's threads, which must not receive SIGINT
  const std::unique_ptr<Device> device = open_device(options.compute.device, options.compute.device_options());
  const DeviceKind kind = device->caps().kind;
  const std::vector<Step> steps = steps_to_time(options, kind);
  const std::vector<const Kernel*> kernels = chosen_kernels(options, kind, steps);
  if (!options.against.empty()) require_kernel(options.against, kind);

  output.print("{}\n", device->caps().description);
  const Contention contention;
  const Ceilings ceilings = known_ceilings(*device, options.ceilings);
  output.print("{}\n", rates_text(ceilings));
  if (const auto waited = contention.waited_share(); device->caps().runs_on_host() && waited && *waited > kBusy) {
    output.print("{}; when idle it is faster than this\n", busy_text(*waited));
  }
  Session session(options, *device, kernels, ceilings, output, results);
  for (const Step& step : steps) session.time(step);
  results.finish();
  if (session.busy()) {
    note(
        "other processes used the CPU while kernels marked BUSY were timed, so their times are not valid; rerun on an "
        "idle machine");
  }
  if (session.wrong()) {
    throw wrong_result("a kernel computed wrong results and was not timed; run 'convlab verify' for details");
  }
}

}  // namespace

Action declare_bench(CLI::App& parser) {
  auto options = std::make_shared<BenchOptions>();
  CLI::Option* file = add_text(parser, "FILE", options->file, "", "kernel file, same as --kernel FILE");
  exclude(add_text(parser, "--kernel", options->kernel, "GLOB",
                   "kernels with matching names, or a kernel file (default: all of the device except the reference)"),
          file);
  add_problems(parser, options->problems);
  add_parsed(parser, "-n,--images", "N,N,...", "batch sizes (default: 10000 on cuda, 1000 on cpu, 2 on simt)",
             [options](const std::string& text, const std::string& name) {
               options->images.clear();
               for (const std::string& part : split(text, ',')) {
                 options->images.push_back(parse_int(part, name, 1, kMostImages));
               }
             });
  add_parsed(
      parser, "--epilogue", "TEXT",
      "fused epilogue: bias+relu, bias+max2x2/2+tanh, swish; kernels that do not support it are skipped",
      [options](const std::string& text, const std::string& name) { options->epilogue = parse_epilogue(text, name); });
  add_device(parser, options->compute);
  add_parsed(parser, "--math", "M", "only kernels with this math: fp32, tf32, bf16x2, bf16, fp16 (default: all)",
             [options](const std::string& text, const std::string& name) { options->math = parse_math(text, name); });
  add_threads(parser, options->compute);
  CLI::Option* against = add_text(parser, "--against", options->against, "KERNEL",
                                  "compare with this kernel in interleaved launches and report which is faster");
  exclude(add_flag(parser, "--sweep", options->sweep, "time all combinations of a kernel's tunables"), against);
  add_flag(parser, "--ceilings", options->ceilings,
           "measure the machine's peak rates again instead of using saved ones");
  add_real(parser, "--seconds", options->effort.seconds, 0.001, 3600,
           "maximum seconds for a series of samples (default: 1)");
  add_int(parser, "--samples", options->most_samples, 1, 1'000'000,
          "maximum number of samples in a series (default: 500)");
  add_int(parser, "--graph", options->graph, 1, 1000,
          "on a GPU, also time N launches replayed as one CUDA graph (default: off)");
  add_real(parser, "--spread", options->effort.spread, 0.0001, 1,
           "stop a series when its median is known to this relative error (default: 0.01)");
  return [options](Output& output) {
    if (!options->file.empty()) options->kernel = options->file;
    if (!run_in_guest({options->kernel, options->against}, options->compute.device)) bench(*options, output);
  };
}

}  // namespace convlab::app
