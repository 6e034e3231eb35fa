// convlab bench: kernels timed on convolutions, beside the library's, with what the machine could do at best.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/compute_options.h"
#include "app/progress.h"
#include "app/results_json.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/kernels/registry.h"
#include "convlab/measure/compare.h"
#include "convlab/measure/measure.h"
#include "convlab/measure/sweep.h"
#include "convlab/model/zoo.h"
#include "convlab/plan/plan.h"
#include "convlab/rewrite/simplify.h"
#include "convlab/verify/cases.h"
#include "convlab/verify/verify.h"

namespace convlab::app {
namespace {

constexpr int64_t kMostImages = int64_t{1} << 30;

struct BenchOptions {
  std::string kernel = "*", problem, model, shapes, against;
  std::vector<int64_t> images;
  std::optional<Math> math;
  ComputeOptions compute;
  Effort effort;
  int64_t most_samples = 500;
  bool sweep = false, ceilings = false;
};

/// As many as keep a GPU busy for a while and a host for less than a second; an executor of GPU threads has its limits.
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

/// The convolutions of a model, each once, for one image.
std::vector<ConvProblem> problems_of_model(const std::string& name) {
  Graph loaded = load_model(name);
  Shape input = loaded.input_shape;
  if (!input.empty()) input[0] = 1;  // otherwise a single number, which no convolution takes
  const Graph graph = simplified(std::move(loaded), input, /*into_weights=*/false);
  std::vector<ConvProblem> problems;
  for (const PlanStep& step :
       make_plan(graph, input, open_device("cpu", {})->caps(), {.mode = PlanMode::layers}).steps) {
    const ConvStep* conv = step.conv_step();
    if (conv == nullptr || std::find(problems.begin(), problems.end(), conv->problem) != problems.end()) continue;
    problems.push_back(conv->problem);
  }
  if (problems.empty()) throw bad_input("--model {}: has no convolution", name);
  return problems;
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
    bases = problems_of_model(options.model.empty() ? "fa19" : options.model);
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

std::vector<const ConvKernel*> chosen_kernels(const BenchOptions& options, DeviceKind device) {
  std::vector<const ConvKernel*> kernels = kernels_matching(options.kernel, device);
  // Without --sweep and --against, times stand beside the library's.
  for (const ConvKernel& kernel : conv_kernels()) {
    const bool beside =
        kernel.info.device == device && kernel.info.library && !options.sweep && options.against.empty();
    if (beside && std::find(kernels.begin(), kernels.end(), &kernel) == kernels.end()) kernels.push_back(&kernel);
  }
  if (options.math) {
    std::erase_if(kernels, [&](const ConvKernel* kernel) { return kernel->info.math != *options.math; });
    if (kernels.empty())
      throw bad_input("--kernel {}: none of these computes in {}", options.kernel, name_of(*options.math));
  }
  return kernels;
}

/// The plain step, or one from and to the layout that the kernel knows if it takes nothing else.
ConvStep step_for(const ConvKernel& kernel, const ConvProblem& problem, const DeviceCaps& caps) {
  const ConvStep plain{.problem = problem};
  const ConvStep inside{.problem = problem, .input_layout = kernel.layout, .output_layout = kernel.layout};
  return kernel.refuses(plain, caps) && !kernel.refuses(inside, caps) ? inside : plain;
}

/// Why a kernel is not timed; nullopt: it fits, and was just seen to be right. Libraries are taken as they are.
Refusal why_not(const ConvKernel& kernel, const ConvStep& step, Device& device, Oracle& oracle, bool& wrong) {
  if (const Refusal refusal = kernel.refuses(step, device.caps())) return refusal;
  if (kernel.info.library) return std::nullopt;
  ConvStep few = step;
  few.problem.n = std::min<int64_t>(few.problem.n, 2);
  const CaseResult result = verify_kernel(kernel, few, device, oracle);
  if (result.outcome == Outcome::passed) return std::nullopt;
  wrong |= result.outcome == Outcome::failed;
  return fmt::format("{} on {}: {}", name_of(result.outcome), to_text(few.problem), result.reason);
}

/// A table of one problem's kernels.
class Table {
 public:
  Table(Output& output, const std::vector<const ConvKernel*>& kernels) : output_(output) {
    for (const ConvKernel* kernel : kernels) width_ = std::max(width_, kernel->info.name.size());
  }

  void begin(const ConvProblem& problem, const Ceilings& ceilings) {
    const Bound bound = ceilings.bound(problem.flops(), problem.compulsory_bytes(4, 4), Math::fp32);
    output_.print("\n{}: {:.3f} GFLOP, {:.1f} MB, fp32 bound {:.4f} ms ({})\n", to_text(problem),
                  problem.flops() * 1e-9, problem.compulsory_bytes(4, 4) * 1e-6, bound.seconds * 1e3,
                  name_of(bound.limit));
    output_.print("{:<{}}  {:<6}  {:>10}  {:>6}  {:>10}  {:>10}  {:>9}  {:>7}  {:>8}\n", "kernel", width_, "math",
                  "hot (ms)", "+-", "cold (ms)", "op (ms)", "GFLOP/s", "GB/s", "of bound");
  }

  void row(const Record& record) {
    output_.print("{:<{}}  {:<6}  {:>10.4f}  {:>5.1f}%  {:>10.4f}  {:>10.4f}  {:>9.1f}  {:>7.1f}  {:>6.1f} %\n",
                  record.kernel, width_, record.math, record.hot_ms.median, 100 * record.hot_ms.spread(),
                  record.cold_ms.median, record.op_ms.median, record.gflops, record.gbps, 100 * record.share);
    if (!record.choice.empty()) output_.print("{:<{}}  {}\n", "", width_, record.choice);
  }

  void refused(const ConvKernel& kernel, const std::string& reason) {
    output_.print("{:<{}}  {:<6}  not timed: {}\n", kernel.info.name, width_, name_of(kernel.info.math), reason);
  }

 private:
  Output& output_;
  size_t width_ = 6;
};

/// The fastest of our own, beside the library of the same arithmetic.
void print_beside_library(Output& output, const std::vector<Record>& records, DeviceKind device) {
  for (const Record& library : records) {
    if (!find_conv_kernel(library.kernel, device)->info.library) continue;
    const Record* best = nullptr;
    for (const Record& record : records) {
      const bool own = !find_conv_kernel(record.kernel, device)->info.library && record.math == library.math;
      if (own && (best == nullptr || record.hot_ms.median < best->hot_ms.median)) best = &record;
    }
    if (best == nullptr) continue;
    output.print("{} is {:.2f} times as fast as {}\n", best->kernel, library.hot_ms.median / best->hot_ms.median,
                 library.kernel);
  }
}

std::string to_text(const std::map<std::string, int>& tuning) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : tuning) parts.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(parts, " "));
}

/// Every combination of the kernel's tunables; prints the best ones and what the kernel has chosen.
std::vector<Record> sweep(const ConvKernel& kernel, BenchArrays& arrays, const Ceilings& ceilings, const Effort& effort,
                          Output& output) {
  const std::vector<std::vector<int>> grid = tuning_grid(kernel.tunables);
  std::vector<Record> records;
  {
    Progress progress(fmt::format("sweeping {}", kernel.info.name), static_cast<int64_t>(grid.size()));
    for (const std::vector<int>& tuning : grid) {
      records.push_back(measure(kernel, arrays, ceilings, effort, tuning));
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
    output.print("{:>4}  {:>10.4f} ms  {}  {}\n", i + 1, records[i].hot_ms.median, to_text(records[i].tuning), mark);
  }
  return records;
}

/// Adds both to the results.
void compare(const ConvKernel& kernel, const ConvKernel& other, BenchArrays& arrays, const Ceilings& ceilings,
             const Effort& effort, Output& output, std::vector<BenchResult>& results) {
  Record record = measure(kernel, arrays, ceilings, effort), other_record = measure(other, arrays, ceilings, effort);
  KernelBench first(kernel, arrays), second(other, arrays);
  const Comparison comparison = compare_interleaved(
      effort, [&] { return first.run().device_ms; }, [&] { return second.run().device_ms; });
  output.print("\n{}: {} against {}: {}, {:.4f} times its time (99 % interval {:.4f} to {:.4f}; {} pairs in turns)\n",
               to_text(arrays.step().problem), kernel.info.name, other.info.name, name_of(comparison.decision),
               comparison.ratio, comparison.interval.low, comparison.interval.high, comparison.first.samples.size());
  results.push_back({std::move(record), BenchResult::Against{other.info.name, comparison}});
  results.push_back({std::move(other_record), std::nullopt});
}

void print_ceilings(Output& output, const Ceilings& ceilings) {
  output.print("fp32 {:.1f} GFLOP/s", ceilings.fp32_flops * 1e-9);
  if (ceilings.tf32_flops > 0) output.print(", tf32 {:.1f}", ceilings.tf32_flops * 1e-9);
  if (ceilings.fp16_flops > 0) output.print(", fp16 {:.1f}", ceilings.fp16_flops * 1e-9);
  output.print("; copying {:.1f} GB/s, within a cache of {:.1f} MiB {:.1f} GB/s", ceilings.memory_bytes * 1e-9,
               static_cast<double>(ceilings.cache_size) * 0x1p-20, ceilings.cache_bytes * 1e-9);
  if (ceilings.upload_bytes > 0) output.print("; to the GPU {:.1f} GB/s", ceilings.upload_bytes * 1e-9);
  output.print("\n");
}

void bench(const BenchOptions& options, Output& output) {
  Effort effort = options.effort;
  effort.most = static_cast<int>(options.most_samples);
  const std::unique_ptr<Device> device = open_device(options.compute.device, options.compute.device_options());
  const DeviceKind kind = device->caps().kind;
  const std::vector<ConvProblem> problems = chosen_problems(options, kind);
  const std::vector<const ConvKernel*> kernels = chosen_kernels(options, kind);
  const ConvKernel* other = options.against.empty() ? nullptr : &require_conv_kernel(options.against, kind);

  output.print("{}\n", device->caps().description);
  const Ceilings ceilings = known_ceilings(*device, options.ceilings);
  print_ceilings(output, ceilings);

  std::vector<BenchResult> results;
  bool wrong = false;
  Oracle oracle(static_cast<int>(options.compute.threads));
  Table table(output, kernels);
  for (const ConvProblem& problem : problems) {
    BenchArrays plain_arrays(*device, {.problem = problem});
    std::vector<Record> records;
    if (!options.sweep && other == nullptr) table.begin(problem, ceilings);
    for (const ConvKernel* kernel : kernels) {
      const ConvStep step = step_for(*kernel, problem, device->caps());
      Refusal refusal = why_not(*kernel, step, *device, oracle, wrong);
      if (!refusal && options.sweep && kernel->tunables.empty()) refusal = "declares no tunables";
      if (!refusal && other != nullptr) refusal = why_not(*other, step, *device, oracle, wrong);
      std::optional<BenchArrays> own_arrays;
      if (!refusal && step.input_layout != Layout::plain) own_arrays.emplace(*device, step);
      BenchArrays& arrays = own_arrays ? *own_arrays : plain_arrays;
      if (refusal) {
        table.refused(*kernel, *refusal);
      } else if (options.sweep) {
        for (Record& record : sweep(*kernel, arrays, ceilings, effort, output))
          results.push_back({std::move(record), std::nullopt});
      } else if (other != nullptr) {
        compare(*kernel, *other, arrays, ceilings, effort, output, results);
      } else {
        records.push_back(measure(*kernel, arrays, ceilings, effort));
        table.row(records.back());
        results.push_back({records.back(), std::nullopt});
      }
    }
    print_beside_library(output, records, kind);
  }
  write_json(output, results);
  if (wrong) throw wrong_result("a kernel failed its verification and was not timed; 'convlab verify' tells more");
}

}  // namespace

Action declare_bench(CLI::App& parser) {
  auto options = std::make_shared<BenchOptions>();
  add_text(parser, "--kernel", options->kernel, "GLOB", "kernels whose names match (default: all of the device)");
  CLI::Option* problem =
      add_text(parser, "--problem", options->problem, "TEXT", "one problem: n10000_c12h33w33_k24r5s5");
  CLI::Option* model =
      add_text(parser, "--model", options->model, "NAME", "the convolutions of a model (default fa19)");
  CLI::Option* shapes = add_text(parser, "--shapes", options->shapes, "FILE", "a list of problems, one a line");
  exclude(model, problem);
  exclude(shapes, problem);
  exclude(shapes, model);
  add_parsed(parser, "-n,--images", "N,N,...", "images in a batch (default: 10000 on cuda, 1000 on cpu, 2 on simt)",
             [options](const std::string& text, const std::string& name) {
               options->images.clear();
               for (const std::string& part : split(text, ',')) {
                 options->images.push_back(parse_int(part, name, 1, kMostImages));
               }
             });
  add_device(parser, options->compute);
  add_parsed(parser, "--math", "M", "only kernels that compute in M: fp32, tf32, bf16x2, bf16, fp16 (default: all)",
             [options](const std::string& text, const std::string& name) { options->math = parse_math(text, name); });
  add_threads(parser, options->compute);
  CLI::Option* against = add_text(parser, "--against", options->against, "KERNEL",
                                  "compare with this kernel, in turns, and say which is faster");
  exclude(add_flag(parser, "--sweep", options->sweep, "time every combination of a kernel's tunables"), against);
  add_flag(parser, "--ceilings", options->ceilings, "measure the machine anew, not as kept from an earlier run");
  add_real(parser, "--seconds", options->effort.seconds, 0.001, 3600,
           "the most that a series of samples takes (default 1)");
  add_int(parser, "--samples", options->most_samples, 1, 1'000'000, "the most samples of a series (default 500)");
  add_real(parser, "--spread", options->effort.spread, 0.0001, 1,
           "a series is long enough when its median is known to this share (default 0.01)");
  return [options](Output& output) { bench(*options, output); };
}

}  // namespace convlab::app
