// convlab profile: prints nvprof's tables for a run, what makes up 90 % of the time and in which layers, and where the
// time of a whole run went.

#include <unistd.h>

#include <memory>
#include <optional>

#include "app/command.h"
#include "app/count.h"
#include "app/guests/guest_kernels.h"
#include "app/recorders.h"
#include "app/results/course_lines.h"
#include "app/results/profile_json.h"
#include "app/runs/run_command.h"
#include "app/runs/whole_run.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/text.h"
#include "convlab/device/devices.h"
#include "convlab/device/recorder.h"
#include "convlab/profile/counters.h"
#include "convlab/profile/gpu_time.h"
#include "convlab/profile/nvprof.h"

namespace convlab::app {
namespace {

struct ProfileOptions {
  RunOptions run;
  bool csv = false, gpu_trace = false, counters = false;
  std::string trace;

  /// The command whose run is profiled: "convlab run fa19 --device cuda".
  std::string command() const { return fmt::format("{}", fmt::join(run_command(run), " ")); }
};

/// The profiled program: loads, runs the network `repeat` times, and compares the labels.
class Program {
 public:
  Program(const ProfileOptions& options, Recorder& recorder)
      : recorder_(recorder), classifier_(load_classifier(one_after_another(options.run.classify), &recorder)) {
    const int64_t count = classifier_->count();
    {
      const Observed part(classifier_->images.ready() ? nullptr : &recorder_, {Stage::scaling});
      images_ = classifier_->images.from(0, count);
    }
    std::vector<int> labels(static_cast<size_t>(count));
    output_.resize(static_cast<size_t>(element_count(model().output_shapes(count)[0])));
    for (int64_t pass = 0; pass < options.run.repeat; ++pass) {
      run_network();
      const Observed part(&recorder_, {Stage::labels});
      classifier_->find_labels(output_, 0, labels);
      accuracy_ = static_cast<double>(right_answers(labels, *classifier_)) / static_cast<double>(classifier_->count());
    }
  }

  void run_network() { model().run(images_, classifier_->count(), output_.data()); }

  const Classifier& classifier() const { return *classifier_; }
  double accuracy() const { return accuracy_; }

  /// The GPU's counters, from one more pass.
  Utilisation counters() {
    if (classifier_->caps().runs_on_host()) {
      return {.kernels = {}, .refusal = "counters need a GPU; use --device cuda"};
    }
    model().observe(&recorder_);
    recorder_.start();
    run_network();
    const Recording recording = recorder_.stop();
    model().observe(nullptr);
    return take_counters(recording, [this] { run_network(); });
  }

  ProfilingCheck check() {
    return check_profiling(model(), recorder_, [this] { run_network(); });
  }

 private:
  ReadyModel& model() { return *classifier_->model; }

  /// Runs copies and launches one after another, so that a profile's rows are distinct and comparable with passes that
  /// are not profiled.
  static ClassifyOptions one_after_another(ClassifyOptions options) {
    options.pipelined = false;
    return options;
  }

  Recorder& recorder_;
  std::unique_ptr<Classifier> classifier_;
  const uint8_t* images_ = nullptr;  ///< all of them, scaled before the network is timed
  std::vector<float> output_;
  double accuracy_ = 0;
};

std::string table(const ProfileOptions& options, const Recording& recording, const ProfileTotals& summary) {
  const int process = ::getpid();
  const std::string command = options.command();
  if (options.gpu_trace) {
    return options.csv ? nvprof_gpu_trace_csv(process, command, recording)
                       : nvprof_gpu_trace(process, command, recording);
  }
  return options.csv ? nvprof_summary_csv(process, command, summary) : nvprof_summary(process, command, summary);
}

void print_lists(Output& output, const ProfileTotals& summary, const DeviceCaps& caps) {
  const bool gpu = !caps.runs_on_host();
  output.print("\n{} that together take more than {:.0f} % of the time {}:\n{}", gpu ? "Kernels and copies" : "Kernels",
               100 * kReportedShare, gpu ? "on the GPU" : "in kernels",
               to_text(rows_above(summary.activities, kReportedShare)));
  output.print("\n{} that together take more than {:.0f} % of the time in calls:\n{}", gpu ? "API calls" : "Host calls",
               100 * kReportedShare, to_text(rows_above(summary.calls, kReportedShare)));
  if (gpu)
    output.print("(The recorder starts the driver itself; the table of the whole run below includes that time.)\n");
  output.print("\n{}", caps.runs_cuda() ? kKernelsVersusApiCalls : kKernelsVersusHostCalls);
}

void print_check(Output& output, const ProfilingCheck& check) {
  output.print(
      "\nProfiling made the network {:.2f} % slower: {:.3f} ms instead of {:.3f} ms, medians of {} interleaved passes "
      "each;\n"
      "starting and stopping the recorder took another {:.3f} ms.\n",
      100 * check.overhead(), check.profiled_s * 1e3, check.plain_s * 1e3, check.passes, check.start_stop_s * 1e3);
  if (check.timed_kernels_s) {
    output.print("Kernel time of one pass: {:.3f} ms in the profile, {:.3f} ms by events without it ({:+.2f} %).\n",
                 check.recorded_kernels_s * 1e3, *check.timed_kernels_s * 1e3,
                 100 * (check.recorded_kernels_s / *check.timed_kernels_s - 1));
  }
}

void profile(const ProfileOptions& options, Output& output) {
  if (options.run.classify.compute.device == kAllGpus) {
    throw bad_input("--device {}: profile supports one GPU; use one, for example cuda:0", kAllGpus);
  }
  // Do this before this process touches a GPU, so that the run starts cold. With --csv and without --json, only the
  // table is printed.
  const bool table_only = options.csv && !output.wants_json();
  std::optional<StartupBill> bill;
  if (!table_only) bill = make_bill(time_whole_run(options.run));

  const std::unique_ptr<Recorder> recorder = make_recorder(options.run.classify.compute.device);
  recorder->start();
  Program program(options, *recorder);
  Recording recording = recorder->stop();
  const DeviceCaps& caps = program.classifier().caps();
  if (!caps.runs_on_host()) recording.device_name = text_before(caps.description, ',');
  const ProfileTotals summary = summarize(recording);

  const ClassifyOptions& classify = options.run.classify;
  if (!options.csv) {
    output.print("{}{}{}{}", nvprof_begin(::getpid(), options.command()), kLoadingData, kLoadingModel, kNewInference);
    output.print("Correctness: {} Model: {}\n", python_repr(program.accuracy()), program.classifier().course_model);
  }
  output.print("{}", table(options, recording, summary));
  if (!options.trace.empty()) {
    write_file(options.trace, chrome_trace_text(recording));
  }
  if (table_only) return;

  const ProfilingCheck check = program.check();
  std::optional<Utilisation> utilisation;
  if (options.counters) utilisation = program.counters();
  if (!options.csv) {
    print_lists(output, summary, caps);
    if (!caps.runs_on_host()) {
      output.print("\nGPU busy time by part of the network (overlapping work counts once):\n{}",
                   to_text(gpu_time(recording)));
    }
    print_check(output, check);
    if (utilisation) output.print("\nGPU counters:\n{}", to_text(*utilisation));
    output.print("\nWhere the time of a whole run went ({}):\n{}", options.command(), to_text(*bill));
  }
  write_json(output, ProfileResult{.command = options.command(),
                                   .model = classify.model,
                                   .images = program.classifier().count(),
                                   .accuracy = program.accuracy(),
                                   .math = classify.compute.math(),
                                   .plan = classify.plan,
                                   .recording = recording,
                                   .summary = summary,
                                   .check = check,
                                   .bill = *bill,
                                   .utilisation = utilisation});
}

}  // namespace

Action declare_profile(CLI::App& parser) {
  auto options = std::make_shared<ProfileOptions>();
  add_run_options(parser, options->run);
  add_flag(parser, "--csv", options->csv, "print only the table, as nvprof --csv does");
  add_flag(parser, "--gpu-trace", options->gpu_trace, "print each kernel and copy in order instead of the summary");
  add_flag(
      parser, "--counters", options->counters,
      "also print each kernel's GPU utilization, if the driver permits; on simt, print the memory accesses of each "
      "source line instead");
  add_text(parser, "--trace", options->trace, "FILE", "also write a trace for chrome://tracing or Perfetto");
  return [options](Output& output) {
    if (!options->trace.empty()) require_writable("--trace", options->trace);
    choose_model(options->run);
    if (options->counters && counts_on_simt(options->run)) {
      if (options->csv || options->gpu_trace || !options->trace.empty()) {
        throw bad_input("--counters on simt cannot be combined with --csv, --gpu-trace or --trace");
      }
      return count(options->run, output);
    }
    const ComputeOptions& compute = options->run.classify.compute;
    if (!run_in_guest({compute.kernel}, compute.device)) profile(*options, output);
  };
}

}  // namespace convlab::app
