// convlab predict: predicts the speedup of one kernel over another on a GPU, from simt's counts and a GPU's ceilings.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/child.h"
#include "app/command.h"
#include "app/compute_options.h"
#include "app/default_model.h"
#include "app/guests/kernel_files.h"
#include "app/guests/registers.h"
#include "app/problems.h"
#include "app/results/predict_json.h"
#include "convlab/base/error.h"
#include "convlab/base/resources.h"
#include "convlab/device/cuda.h"
#include "convlab/device/simt.h"
#include "convlab/evidence/evidence.h"
#include "convlab/kernels/registry.h"
#include "convlab/measure/record.h"
#include "convlab/predict/step.h"
#include "convlab/profile/count_kernel.h"

namespace convlab::app {
namespace {

constexpr const char* kShippedRecords = "results/nvidia-h200/fa19.json";

struct PredictOptions {
  std::string kernel, from, problem, model, machine;
  int64_t images = 0;  ///< 0: those of --problem, or 10000
  int64_t counted = 2;
  std::vector<std::string> measured;
  ComputeOptions compute;

  bool on_gpu() const {
    return compute.device.starts_with("cuda") || (compute.device == "auto" && machine.empty() && cuda_present());
  }
};

GpuRates chosen_rates(const PredictOptions& options) {
  if (!options.machine.empty()) return rates_from_records(options.machine);
  if (!options.on_gpu()) return rates_from_records(find_resource(kShippedRecords));
  const std::unique_ptr<Device> gpu =
      open_device(options.compute.device == "auto" ? "cuda" : options.compute.device, {});
  return rates_of(gpu->caps().description, known_ceilings(*gpu));
}

std::vector<ConvProblem> chosen_problems(const PredictOptions& options) {
  constexpr int64_t kCourseImages = 10000;
  const std::string model = options.model.empty() ? default_model({options.kernel, options.from}) : options.model;
  std::vector<ConvProblem> problems =
      options.problem.empty() ? problems_of_model(model) : std::vector{parse_problem(options.problem)};
  for (ConvProblem& problem : problems) {
    if (options.images > 0 || options.problem.empty()) problem.n = options.images > 0 ? options.images : kCourseImages;
    validate(problem);
  }
  return problems;
}

/// Returns the global memory arrays that the counts name, with their sizes in bytes.
std::map<std::string, double> array_sizes(const std::vector<KernelCounts>& functions) {
  std::map<std::string, double> sizes;
  for (const KernelCounts& function : functions) {
    for (const LineCounts& line : function.lines) {
      if (line.space != MemorySpace::global || line.array.empty()) continue;
      double& bytes = sizes[line.array];
      bytes = std::max(bytes, static_cast<double>(line.array_bytes));
    }
  }
  return sizes;
}

/// Adds the arrays that a file allocates itself: copies of x, w and y, recognized by their size, and others, whose
/// sizes are extrapolated from those for one image and for the counted images.
void add_own_arrays(KernelWork& work, const Kernel& kernel, const ConvStep& counted, Device& simt) {
  const auto known = work.arrays;
  std::map<std::string, double> of_one;
  for (const auto& [name, bytes] : array_sizes(work.functions)) {
    if (known.contains(name)) continue;
    const double counted_bytes = bytes;
    const auto copied =
        std::ranges::find_if(known, [&](const auto& each) { return each.second.counted_bytes == counted_bytes; });
    KernelWork::Array& array = work.arrays[name];
    array.counted_bytes = counted_bytes;
    if (copied != known.end()) {
      array.bytes = copied->second.bytes;
      continue;
    }
    if (of_one.empty() && counted.problem.n > 1) {
      ConvStep one = counted;
      one.problem.n = 1;
      of_one = array_sizes(count_kernel(kernel, one, simt));
    }
    const double first = of_one.contains(name) ? of_one[name] : 0;
    const double per_image = (counted_bytes - first) / static_cast<double>(counted.problem.n - (first > 0 ? 1 : 0));
    array.bytes = counted_bytes + per_image * static_cast<double>(work.problem.n - counted.problem.n);
  }
}

/// Counts the kernel on simt for a few of the problem's images.
KernelWork work_of(const std::string& name, const ConvProblem& problem, const PredictOptions& options,
                   const GpuRates& rates, Device& simt) {
  const Kernel& kernel = require_conv_kernel(name, DeviceKind::simt);
  const ConvStep all{.problem = problem};
  if (const Refusal refusal = kernel.refuses(all, simt.caps())) {
    throw bad_input("{}: {}: {}", name, to_text(problem), *refusal);
  }
  ConvStep few = all;
  few.problem.n = std::min(problem.n, options.counted);
  KernelWork work{.kernel = name,
                  .problem = problem,
                  .counted_images = few.problem.n,
                  .functions = count_kernel(kernel, few, simt),
                  .filled_bytes = static_cast<double>(simt_filled_bytes()),
                  .arrays = {}};
  if (work.functions.empty()) throw bad_input("{}: {}: no launch that simt can count", name, to_text(problem));
  add_registers(name, rates.limits.compute_capability, work.functions);

  const auto add = [&](const char* array, double counted_bytes, double bytes) {
    work.arrays[array] = {.counted_bytes = counted_bytes, .bytes = bytes};
  };
  const auto floats = [](int64_t count) { return static_cast<double>(count) * sizeof(float); };
  const auto scratch = [&](const char* array, auto bytes_of) {
    if (bytes_of == nullptr) return;
    add(array, static_cast<double>(bytes_of(few, simt.caps())), static_cast<double>(bytes_of(all, simt.caps())));
  };
  add("x", floats(few.problem.input_count()), floats(problem.input_count()));
  add("w", floats(problem.filter_count()), floats(problem.filter_count()));
  add("y", floats(few.problem.output_count()), floats(problem.output_count()));
  scratch("prepared", kernel.prepared_bytes);
  scratch("workspace", kernel.workspace_bytes);
  add_own_arrays(work, kernel, few, simt);
  return work;
}

/// Returns the times in the newest Records of both kernels; nullopt if there are none. Throws Error(bad_input) if they
/// are of different GPUs.
std::optional<MeasuredStep> measured_in(const std::vector<Record>& records, const PredictOptions& options,
                                        const std::string& problem) {
  const Record *before = nullptr, *after = nullptr;
  for (const Record& record : records) {
    if (record.problem != problem || record.device != DeviceKind::cuda || !record.epilogue.empty()) continue;
    if (record.kernel == options.kernel) after = &record;
    if (record.kernel == options.from) before = &record;
  }
  if (before == nullptr || after == nullptr) return std::nullopt;
  if (before->machine.device != after->machine.device) {
    throw bad_input("--measured: {} was measured on {}, but {} on {}; use Records of one machine", options.from,
                    before->machine.device, options.kernel, after->machine.device);
  }
  return MeasuredStep{
      .device = after->machine.device, .before_ms = before->hot_ms.median, .after_ms = after->hot_ms.median};
}

/// Times both kernels, interleaved, on the GPU in another process of this program.
std::vector<Record> measured_here(const PredictOptions& options, const std::string& problem) {
  const std::string device = options.compute.device == "auto" ? "cuda" : options.compute.device;
  const ChildRun child = run_child({"convlab", "bench", "--kernel", options.kernel, "--against", options.from,
                                    "--problem", problem, "--device", device, "--json", "-"});
  if (child.status != 0) {
    note("not measured: 'convlab bench' failed with status {}: {}", child.status, child.complaint);
    return {};
  }
  Evidence evidence;
  add_evidence(evidence, child.output, "convlab bench");
  return evidence.records;
}

void predict(const PredictOptions& options, Output& output) {
  std::vector<Record> records;
  for (const std::string& file : options.measured) {
    for (Record& record : read_records(file)) records.push_back(std::move(record));
  }
  const GpuRates rates = chosen_rates(options);
  const std::vector<ConvProblem> problems = chosen_problems(options);
  if (!simt_present()) throw unavailable("predict needs simt's counters; {}", how_to_get_simt());
  if (run_in_guest({options.kernel, options.from}, "simt", GuestWork::counting)) return;

  const std::unique_ptr<Device> simt = open_device("simt", options.compute.device_options());
  std::vector<PredictedStep> steps;
  for (const ConvProblem& problem : problems) {
    steps.push_back({predict_step(rates, work_of(options.from, problem, options, rates, *simt),
                                  work_of(options.kernel, problem, options, rates, *simt))});
    PredictedStep& predicted = steps.back();
    output.print("{}{}", steps.size() > 1 ? "\n" : "", to_text(predicted.step));
    const std::string text = to_text(problem);
    if (options.measured.empty() && options.on_gpu()) records = measured_here(options, text);
    predicted.measured = measured_in(records, options, text);
    if (predicted.measured) {
      output.print("{}", compared_text(predicted.step, *predicted.measured));
    } else if (!options.measured.empty()) {
      output.print("  The Records have no times of both kernels for this problem.\n");
    }
  }
  write_json(output, steps);
}

}  // namespace

Action declare_predict(CLI::App& parser) {
  auto options = std::make_shared<PredictOptions>();
  require(add_text(parser, "KERNEL", options->kernel, "", "CUDA kernel or kernel file after the change"));
  require(add_text(parser, "--from", options->from, "KERNEL", "CUDA kernel or kernel file before the change"));
  CLI::Option* problem = add_text(parser, "--problem", options->problem, "TEXT", std::string(kProblemHelp));
  exclude(add_text(parser, "--model", options->model, "NAME",
                   "the convolutions of this model (default: that of a kernel file's semester, otherwise fa19)"),
          problem);
  add_int(parser, "-n,--images", options->images, 1, kMostImages, "batch size (default: that of --problem, or 10000)");
  add_int(parser, "--counted", options->counted, 1, 1000,
          "images that simt counts; counts are scaled to the batch size (default: 2)");
  add_device(parser, options->compute);
  add_text(
      parser, "--machine", options->machine, "RECORD.json",
      "Records of the GPU to predict for (default: this machine's GPU, or an H200); the model leaves out barriers, "
      "memory latency and L1 misses, see docs/guide/predict.md");
  add_texts(parser, "--measured", options->measured, 1, kAnyNumber, "RECORD.json",
            "Records of both kernels from 'convlab bench --json', to compare with the prediction");
  add_threads(parser, options->compute);
  return [options](Output& output) {
    if (options->kernel == options->from) throw bad_input("--from {} must differ from KERNEL", options->from);
    if (options->compute.device == "cpu") throw bad_input("--device cpu: predict is for GPUs; use cuda or simt");
    predict(*options, output);
  };
}

}  // namespace convlab::app
