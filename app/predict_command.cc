// convlab predict: predicts the time of a CUDA kernel on a GPU, and its speedup over another one, from simt's counts
// and the GPU's ceilings.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/child.h"
#include "app/command.h"
#include "app/compute_options.h"
#include "app/counted_work.h"
#include "app/guests/guest_kernels.h"
#include "app/problems.h"
#include "app/results/predict_json.h"
#include "convlab/base/error.h"
#include "convlab/base/resources.h"
#include "convlab/device/cuda.h"
#include "convlab/device/devices.h"
#include "convlab/device/simt.h"
#include "convlab/evidence/evidence.h"
#include "convlab/kernels/format_refusal.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/step_text.h"
#include "convlab/measure/record.h"
#include "convlab/predict/amount.h"
#include "convlab/predict/predicted_step.h"

namespace convlab::app {
namespace {

constexpr const char* kShippedRecords = "results/nvidia-h200/fa19.json";

struct PredictOptions {
  std::string file, kernel, from, machine;
  ProblemOptions problems;
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

/// Returns the kernel of this name, or those that match a pattern and support some of the steps.
std::vector<const Kernel*> kernels_for(const std::string& pattern, const std::vector<Step>& steps,
                                       const DeviceCaps& caps) {
  std::vector<const Kernel*> kernels = kernels_matching(pattern, DeviceKind::simt);
  if (kernels.size() == 1) return kernels;
  std::erase_if(kernels, [&](const Kernel* kernel) {
    return std::ranges::none_of(
        steps, [&](const Step& step) { return in_supported_formats(*kernel, step, caps).has_value(); });
  });
  if (kernels.empty()) throw bad_input("--kernel {}: no matching kernel supports any of the problems", pattern);
  return kernels;
}

/// Returns the newest Record of a kernel on a GPU, or nullptr.
const Record* newest(const std::vector<Record>& records, const std::string& kernel, const std::string& problem) {
  const auto found = std::find_if(records.rbegin(), records.rend(), [&](const Record& record) {
    return record.kernel == kernel && record.problem == problem && record.device == DeviceKind::cuda &&
           record.epilogue.empty();
  });
  return found == records.rend() ? nullptr : &*found;
}

/// Returns the times in the newest Records of both kernels, or of one if `from` is ""; nullopt if there are none.
/// Throws Error(bad_input) if they are of different GPUs.
std::optional<MeasuredStep> measured_in(const std::vector<Record>& records, const std::string& from,
                                        const std::string& kernel, const std::string& problem) {
  const Record *const before = newest(records, from, problem), *const after = newest(records, kernel, problem);
  if (after == nullptr || (before == nullptr && !from.empty())) return std::nullopt;
  if (before != nullptr && before->machine.device != after->machine.device) {
    throw bad_input("--measured: {} was measured on {}, but {} on {}; use Records of one machine", from,
                    before->machine.device, kernel, after->machine.device);
  }
  return MeasuredStep{.device = after->machine.device,
                      .before_ms = before == nullptr ? 0 : before->hot_ms.median,
                      .after_ms = after->hot_ms.median};
}

/// Times the kernels on the GPU in another process of this program, interleaved with the kernel before.
std::vector<Record> measured_here(const PredictOptions& options, const std::string& problem) {
  const std::string device = options.compute.device == "auto" ? "cuda" : options.compute.device;
  std::vector<std::string> command{"convlab", "bench",    "--kernel", options.kernel, "--problem",
                                   problem,   "--device", device,     "--json",       "-"};
  if (!options.from.empty()) command.insert(command.end(), {"--against", options.from});
  const ChildRun child = run_child(command);
  if (child.status != 0) {
    note("not measured: 'convlab bench' failed with status {}: {}", child.status, child.complaint);
    return {};
  }
  Evidence evidence;
  add_evidence(evidence, child.output, "convlab bench");
  return evidence.records;
}

/// Predicts kernels problem by problem.
class Predictor {
 public:
  Predictor(const PredictOptions& options, GpuRates rates, Device& simt, std::vector<const Kernel*> kernels)
      : options_(options),
        rates_(std::move(rates)),
        simt_(simt),
        kernels_(std::move(kernels)),
        from_(options.from.empty() ? nullptr : &require_kernel(options.from, DeviceKind::simt)) {
    for (const std::string& file : options.measured) {
      for (Record& record : read_records(file)) records_.push_back(std::move(record));
    }
  }

  void predict(const Step& step, Output& output) {
    const std::string text = problem_text(step);
    if (options_.measured.empty() && options_.on_gpu()) records_ = measured_here(options_, text);
    const size_t first = predicted_.size();
    std::optional<Prediction> before;
    if (from_ != nullptr) before = convlab::predict(rates_, work_of(*from_, step));
    for (const Kernel* kernel : kernels_) {
      const bool fits = kernels_.size() == 1 || in_supported_formats(*kernel, step, simt_.caps());
      if (!fits || kernel == from_) continue;
      predicted_.push_back({{rates_, before, convlab::predict(rates_, work_of(*kernel, step))}});
      predicted_.back().measured = measured_in(records_, options_.from, std::string(kernel->info.name), text);
    }
    const std::span<const PredictedStep> all = std::span(predicted_).subspan(first);
    if (first > 0) output.print("\n");
    if (all.empty()) return output.print("{}: no matching kernel supports it\n", text);
    if (from_ == nullptr && kernels_.size() > 1) return print_table(text, all, output);
    for (const PredictedStep& each : all) print(each, &each == all.data(), output);
  }

  const std::vector<PredictedStep>& predicted() const { return predicted_; }

 private:
  KernelWork work_of(const Kernel& kernel, const Step& step) {
    return counted_work(kernel, step, options_.counted, rates_.limits.compute_capability, simt_);
  }

  void print(const PredictedStep& predicted, bool is_first, Output& output) const {
    output.print("{}{}", is_first ? "" : "\n", to_text(predicted.step));
    if (predicted.measured) {
      output.print("{}", compared_text(predicted.step, *predicted.measured));
    } else if (!options_.measured.empty()) {
      output.print("  The Records have no times of {} for this problem.\n",
                   from_ == nullptr ? "this kernel" : "both kernels");
    }
  }

  /// One line for each kernel, the fastest first.
  void print_table(const std::string& problem, std::span<const PredictedStep> all, Output& output) const {
    std::vector<const PredictedStep*> sorted;
    size_t width = 0;
    for (const PredictedStep& each : all) {
      sorted.push_back(&each);
      width = std::max(width, each.step.after.work.kernel.size());
    }
    std::ranges::stable_sort(sorted, {}, [](const PredictedStep* each) { return each->step.after.time.seconds(); });
    const std::string conditions = conditions_text(rates_, all.front().step.after.work);
    output.print("{} on {}\n{:<{}}  {:>10}  {:>10}  {}\n", problem, conditions, "kernel", width, "predicted",
                 "measured", "limited by");
    for (const PredictedStep* each : sorted) {
      const Prediction& prediction = each->step.after;
      output.print("{:<{}}  {:>10}  {:>10}  {}\n", prediction.work.kernel, width,
                   milliseconds(prediction.time.seconds()),
                   each->measured ? milliseconds(each->measured->after_ms * 1e-3) : "-", reason(prediction));
    }
  }

  const PredictOptions& options_;
  const GpuRates rates_;
  Device& simt_;
  const std::vector<const Kernel*> kernels_;
  const Kernel* const from_;
  std::vector<Record> records_;
  std::vector<PredictedStep> predicted_;
};

void predict(const PredictOptions& options, Output& output) {
  GpuRates rates = chosen_rates(options);
  constexpr int64_t kCourseImages = 10000;
  const std::vector<Step> steps =
      chosen_steps(options.problems, {options.kernel, options.from},
                   options.images > 0 ? std::vector{options.images} : std::vector<int64_t>(), kCourseImages);
  if (!simt_present()) throw unavailable("predict needs simt's counters; {}", how_to_get_simt());
  const std::unique_ptr<Device> simt = open_device("simt", options.compute.device_options());
  std::vector<std::string> names{options.kernel};
  if (!names_kernel_file(options.kernel)) {
    names.clear();
    for (const Kernel* each : kernels_for(options.kernel, steps, simt->caps())) names.emplace_back(each->info.name);
  }
  if (!options.from.empty()) names.push_back(options.from);
  if (run_in_guest(names, "simt", GuestWork::counting)) return;

  Predictor predictor(options, std::move(rates), *simt, kernels_for(options.kernel, steps, simt->caps()));
  for (const Step& step : steps) predictor.predict(step, output);
  write_json(output, predictor.predicted());
}

}  // namespace

Action declare_predict(CLI::App& parser) {
  auto options = std::make_shared<PredictOptions>();
  CLI::Option* file = add_text(parser, "KERNEL", options->file, "", "CUDA kernel or kernel file, same as --kernel");
  exclude(add_text(parser, "--kernel", options->kernel, "GLOB", "CUDA kernels with matching names, or a kernel file"),
          file);
  add_text(parser, "--from", options->from, "KERNEL",
           "CUDA kernel or kernel file before the change: also predict the speedup over it");
  add_problems(parser, options->problems);
  add_int(parser, "-n,--images", options->images, 1, kMostImages,
          "batch size of convolutions (default: that of the problem, or 10000)");
  add_int(parser, "--counted", options->counted, 1, 1000,
          "images that simt counts; counts are scaled to the batch size (default: 2)");
  add_device(parser, options->compute);
  add_text(
      parser, "--machine", options->machine, "RECORD.json",
      "Records of the GPU to predict for (default: this machine's GPU, or an H200); the model leaves out barriers, "
      "memory latency and L1 misses, see docs/guide/predict.md");
  add_texts(parser, "--measured", options->measured, 1, kAnyNumber, "RECORD.json",
            "Records of the kernels from 'convlab bench --json', to compare with the prediction");
  add_threads(parser, options->compute);
  return [options](Output& output) {
    if (!options->file.empty()) options->kernel = options->file;
    if (options->kernel.empty()) throw bad_input("KERNEL or --kernel is required");
    if (options->kernel == options->from) throw bad_input("--from {} must differ from KERNEL", options->from);
    if (options->compute.device == "cpu") throw bad_input("--device cpu: predict is for GPUs; use cuda or simt");
    predict(*options, output);
  };
}

}  // namespace convlab::app
