// convlab bench: times kernels on convolutions and compares them with a library and with the machine's roofline.

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
#include "app/default_model.h"
#include "app/guests/kernel_files.h"
#include "app/problems.h"
#include "app/results/bench_results.h"
#include "app/results/ceilings_text.h"
#include "app/results/progress.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/conv/epilogue_text.h"
#include "convlab/kernels/format_refusal.h"
#include "convlab/kernels/registry.h"
#include "convlab/measure/contention.h"
#include "convlab/measure/interleaved.h"
#include "convlab/measure/measure.h"
#include "convlab/measure/sweep.h"
#include "convlab/verify/cases.h"
#include "convlab/verify/verify.h"

namespace convlab::app {
namespace {

constexpr const char* kAllKernels = "*";

struct BenchOptions {
  std::string file, kernel = kAllKernels, problem, model, shapes, against;
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

std::vector<ConvProblem> chosen_problems(const BenchOptions& options, DeviceKind device) {
  std::vector<ConvProblem> bases;
  std::vector<int64_t> images = options.images;
  if (!options.problem.empty()) {
    bases = {parse_problem(options.problem)};
    if (images.empty()) images = {bases.front().n};
  } else if (!options.shapes.empty()) {
    bases = read_shapes(options.shapes);
  } else {
    bases = problems_of_model(options.model.empty() ? default_model({options.kernel, options.against}) : options.model);
    if (images.empty()) images = {default_images(device)};
  }
  if (images.empty()) return bases;
  std::vector<ConvProblem> problems;
  for (ConvProblem problem : bases) {
    for (const int64_t n : images) {
      problem.n = n;
      validate(problem);
      problems.push_back(problem);
    }
  }
  return problems;
}

std::vector<const Kernel*> chosen_kernels(const BenchOptions& options, DeviceKind device) {
  std::vector<const Kernel*> kernels = kernels_matching(options.kernel, device);
  // The reference kernel takes minutes, so it is timed only if the user names it.
  if (options.kernel == kAllKernels) {
    std::erase_if(kernels, [](const Kernel* kernel) { return kernel->info.rung == 0; });
  }
  // Without --sweep and --against, we also time the library.
  for (const Kernel& kernel : conv_kernels()) {
    const bool is_library =
        kernel.info.device == device && kernel.info.library && !options.sweep && options.against.empty();
    if (is_library && std::find(kernels.begin(), kernels.end(), &kernel) == kernels.end()) kernels.push_back(&kernel);
  }
  if (options.math) {
    std::erase_if(kernels, [&](const Kernel* kernel) { return kernel->info.math != *options.math; });
    if (kernels.empty())
      throw bad_input("--kernel {}: no matching kernel computes in {}", options.kernel, name_of(*options.math));
  }
  return kernels;
}

/// Returns `plain`, an nchw step; if the kernel does not support it, a step with the kernel's own layout for input and
/// output; otherwise a network's first step, from nchw to the kernel's layout. Returns `plain` if none is supported.
ConvStep step_for(const Kernel& kernel, const ConvStep& plain, const DeviceCaps& caps) {
  if (!kernel.refuses(plain, caps)) return plain;
  for (const Format input : {kernel.format, kNchw}) {
    ConvStep own = plain;
    own.input_format = input;
    own.output_format = kernel.format;
    if (!kernel.refuses(own, caps)) return own;
  }
  return plain;
}

/// Throws Error(bad_input) if the output is empty.
void require_outputs(const ConvStep& step) {
  const Shape shape = step.output_shape();
  if (element_count(shape) > 0) return;
  throw bad_input("--epilogue {}: pooling window is larger than the {}x{} output of {}", to_text(step.epilogue),
                  step.problem.p(), step.problem.q(), to_text(step.problem));
}

bool was_busy(const Record& record) { return record.waited_share && *record.waited_share > kBusy; }

/// Returns "1.2%", ">100%" for any larger spread, or "-" if there are too few samples.
std::string spread_text(const Summary& summary) {
  if (!std::isfinite(summary.spread())) return "-";
  return summary.spread() <= 1 ? fmt::format("{:.1f}%", 100 * summary.spread()) : ">100%";
}

/// A table of one problem's kernels.
class Table {
 public:
  Table(Output& output, const std::vector<const Kernel*>& kernels) : output_(output) {
    for (const Kernel* kernel : kernels) width_ = std::max(width_, kernel->info.name.size());
  }

  void legend() {
    output_.print(
        "hot: launches back to back; cold: caches flushed before each; Op Time: host time of one hot launch\n"
        "+-: half the 95 % confidence interval of the median (- with fewer than six samples)\n"
        "roofline: minimum time for the arithmetic and the memory traffic\n{}",
        kProblemLegend);
  }

  void begin(const ConvStep& step, const Ceilings& ceilings) {
    const ConvProblem& problem = step.problem;
    const std::string epilogue = step.epilogue.empty() ? "" : ", then " + to_text(step.epilogue);
    const Bound bound = ceilings.bound(problem.flops(), problem.compulsory_bytes(4, 4), Math::fp32);
    output_.print("\n{}{}: {:.3f} GFLOP, {:.1f} MB, fp32 roofline {:.4f} ms ({})\n", to_text(problem), epilogue,
                  problem.flops() * 1e-9, problem.compulsory_bytes(4, 4) * 1e-6, bound.seconds * 1e3,
                  name_of(bound.limit));
    output_.print("{:<{}}  {:<6}  {:>10}  {:>6}  {:>10}  {:>12}  {:>9}  {:>7}  {:>13}\n", "kernel", width_, "math",
                  "hot (ms)", "+-", "cold (ms)", "Op Time (ms)", "GFLOP/s", "GB/s", "of roofline");
  }

  void row(const Record& record) {
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

  void untimed(const Kernel& kernel, Outcome outcome, const std::string& reason) {
    output_.print("{:<{}}  {:<6}  {}: {}\n", kernel.info.name, width_, name_of(kernel.info.math), name_of(outcome),
                  reason);
  }

 private:
  Output& output_;
  size_t width_ = 6;
};

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
  output.print("\n{} on {}: {} combinations\n", kernel.info.name, to_text(arrays.step().problem), records.size());
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
        other_(options.against.empty() ? nullptr : &require_conv_kernel(options.against, device.caps().kind)),
        ceilings_(ceilings),
        output_(output),
        results_(results),
        table_(output, kernels_),
        oracle_(static_cast<int>(options.compute.threads)) {
    effort_.most = static_cast<int>(options.most_samples);
    effort_.graph = static_cast<int>(options.graph);
    if (!special()) table_.legend();
  }

  void time(const ConvProblem& problem) {
    const ConvStep plain{.problem = problem, .epilogue = options_.epilogue};
    require_outputs(plain);
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

  void time(const Kernel& kernel, const ConvStep& plain, std::vector<Timed>& timed) {
    if (const Refusal refusal = refuse_in_all_formats(kernel, plain, device_.caps()))
      return untimed(kernel, {Outcome::skipped, *refusal});
    const ConvStep step = step_for(kernel, plain, device_.caps());
    for (const Kernel* each : {&kernel, other_}) {
      if (each == nullptr) continue;
      const CaseResult result = verify_few(*each, step, device_, oracle_);
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
    output_.print("\n{}: ", to_text(arrays.step().problem));
    compare_pair(kernel, *other_, arrays, index);
  }

  void compare_pair(const Kernel& kernel, const Kernel& other, BenchArrays& arrays, size_t index) {
    KernelBench first(kernel, arrays), second(other, arrays);
    const Comparison comparison = compare_kernels(effort_, first, second);
    print_comparison(output_, device_, kernel, other, comparison);
    results_.compared(index, other, comparison);
  }

  /// Compares the fastest of our own kernels with the library in the same math, interleaved, on nchw arrays.
  void compare_best(const ConvStep& plain, const std::vector<Timed>& timed, const Timed& library) {
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

  /// Returns arrays for this step; reuses the current ones if they have its layouts.
  BenchArrays& arrays(const ConvStep& step) {
    if (!layer_) layer_ = timed_layer(step, oracle_);
    if (!arrays_ || arrays_->step().input_format != step.input_format ||
        arrays_->step().output_format != step.output_format) {
      arrays_.reset();  // first, because both may not fit into memory
      arrays_.emplace(device_, step, layer_);
    }
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
  Table table_;
  Oracle oracle_;
  std::shared_ptr<const OracleLayer> layer_;
  std::optional<BenchArrays> arrays_;
  bool wrong_ = false, busy_ = false;
};

void bench(const BenchOptions& options, Output& output) {
  BenchResults results(output);  // before the device's threads, which must not receive SIGINT
  const std::unique_ptr<Device> device = open_device(options.compute.device, options.compute.device_options());
  const DeviceKind kind = device->caps().kind;
  const std::vector<ConvProblem> problems = chosen_problems(options, kind);
  const std::vector<const Kernel*> kernels = chosen_kernels(options, kind);
  if (!options.against.empty()) require_conv_kernel(options.against, kind);

  output.print("{}\n", device->caps().description);
  const Contention contention;
  const Ceilings ceilings = known_ceilings(*device, options.ceilings);
  output.print("{}\n", rates_text(ceilings));
  if (const auto waited = contention.waited_share(); device->caps().runs_on_host() && waited && *waited > kBusy) {
    output.print("{}; when idle it is faster than this\n", busy_text(*waited));
  }
  Session session(options, *device, kernels, ceilings, output, results);
  for (const ConvProblem& problem : problems) session.time(problem);
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
  CLI::Option* problem = add_text(parser, "--problem", options->problem, "TEXT", std::string(kProblemHelp));
  CLI::Option* model =
      add_text(parser, "--model", options->model, "NAME",
               "the convolutions of this model (default: that of a kernel file's semester, otherwise fa19)");
  CLI::Option* shapes = add_text(parser, "--shapes", options->shapes, "FILE",
                                 "file with one convolution per line; shapes/layers has those of well-known networks");
  exclude(model, problem);
  exclude(shapes, problem);
  exclude(shapes, model);
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
