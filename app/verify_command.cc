// convlab verify: checks kernels against the reference convolution, element by element.

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/compute_options.h"
#include "app/guests/prove_files.h"
#include "app/guests/verify_files.h"
#include "app/problems.h"
#include "app/results/output_streams.h"
#include "app/results/progress_line.h"
#include "app/results/results_json.h"
#include "app/semester_option.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/device/devices.h"
#include "convlab/device/simt.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/step_text.h"
#include "convlab/verify/cases.h"
#include "convlab/verify/ops/verify_op.h"
#include "convlab/verify/verify.h"

namespace convlab::app {
namespace {

struct VerifyOptions {
  std::string kernel = "*", problem, shapes;
  ComputeOptions compute{.device = ""};
  double stuck_after_seconds = 0;  ///< 0: the default
  std::vector<std::string> files;
  std::string semester;
  int64_t images = 0;
  double limit_seconds = 60;
  bool strict = false, all = false, verbose = false, prove = false;
  std::string format = "text", color = "auto";
};

std::vector<Step> chosen_steps(const VerifyOptions& options) {
  if (!options.problem.empty()) return {parse_step(options.problem)};
  if (!options.shapes.empty()) return read_steps(options.shapes);
  return default_steps();
}

/// The convolutions to try kernel files on.
std::vector<ConvProblem> chosen_problems(const VerifyOptions& options) {
  if (!options.problem.empty()) return {parse_problem(options.problem)};
  return read_shapes(options.shapes);
}

/// Passed, failed and skipped cases.
using Counts = std::array<int64_t, 3>;

/// Verifies kernels, prints each case and keeps the results.
class Verification {
 public:
  Verification(const VerifyOptions& options, Output& output)
      : output_(output),
        steps_(chosen_steps(options)),
        device_(open_device(options.compute.device.empty() ? "cpu" : options.compute.device,
                            options.compute.device_options())),
        kernels_(kernels_matching(options.kernel, device_->caps().kind)),
        names_problems_(!options.problem.empty() || !options.shapes.empty()),
        oracle_(static_cast<int>(options.compute.threads)) {}

  void run() {
    int64_t total = 0;
    for (const Step& step : steps_) total += cost(step);
    Progress progress("verifying", total);
    for (const Step& step : steps_) {
      for (const Kernel* kernel : kernels_) {
        if (kernel->is_conv() == is_conv(step)) verify(*kernel, step);
      }
      progress.advance(cost(step));
    }
  }

  /// Prints the counts, by family if there are several. Throws Error(wrong_result) if a case failed.
  void finish() {
    Counts all{};
    for (const auto& [family, counts] : counts_) {
      for (size_t i = 0; i < all.size(); ++i) all[i] += counts[i];
    }
    const auto [passed, failed, skipped] = all;
    if (counts_.size() > 1) {
      output_.print("\n{:<24}{:>8}{:>8}{:>8}\n", "operators", "passed", "failed", "skipped");
      for (const auto& [family, counts] : counts_) {
        output_.print("{:<24}{:>8}{:>8}{:>8}\n", name_of(family), counts[0], counts[1], counts[2]);
      }
      output_.print("\n");
    }
    output_.print("{} passed, {} failed, {} skipped\n", passed, failed, skipped);
    write_json(output_, device_->caps().description, cases_, all);
    if (failed > 0) throw wrong_result("{} of {} cases failed", failed, passed + failed + skipped);
  }

 private:
  /// A problem's cost, for the estimate of the time left.
  static int64_t cost(const Step& step) {
    constexpr double kOverhead = 1e5;
    const double flops =
        is_conv(step) ? conv_step(step).problem.flops() : static_cast<double>(element_count(step.outputs[0].shape));
    return static_cast<int64_t>(std::min(flops + kOverhead, 0x1p32));
  }

  void verify(const Kernel& kernel, const Step& problem) {
    if (is_conv(problem)) {
      for (const ConvStep& step : steps_to_verify(kernel, conv_step(problem).problem, device_->caps())) {
        note(kernel, step, describe(step), verify_kernel(kernel, step, *device_, oracle_));
      }
      return;
    }
    // By default, a kernel is tried on the operators that it supports.
    const bool all = names_problems_ && kernels_.size() == 1;
    for (const Step& step : op_steps_to_verify(kernel, problem, device_->caps(), all)) {
      note(kernel, step, describe(step), verify_op(kernel, step, *device_));
    }
  }

  void note(const Kernel& kernel, const Step& step, const std::string& text, const CaseResult& result) {
    ++counts_[kernel.info.family][static_cast<size_t>(result.outcome)];
    if (Progress::visible()) fmt::print(messages_stream(), "\r\033[K");  // the result replaces the progress line
    const std::string detail =
        result.outcome == Outcome::passed ? fmt::format("relative L2 {:.1e}", result.relative_l2) : result.reason;
    output_.print("{:<8}{:<24} {}: {}\n", name_of(result.outcome), kernel.info.name, text, detail);
    if (output_.wants_json()) cases_.push_back({&kernel, step, result});
  }

  Output& output_;
  const std::vector<Step> steps_;
  const std::unique_ptr<Device> device_;
  const std::vector<const Kernel*> kernels_;
  const bool names_problems_;
  Oracle oracle_;
  std::map<Family, Counts> counts_;
  std::vector<VerifiedCase> cases_;
};

void verify(const VerifyOptions& options, Output& output) {
  constexpr double kStuckAfter = 30;  // our own kernels may be slow, but rarely hang
  set_simt_stuck_after(options.stuck_after_seconds > 0 ? options.stuck_after_seconds : kStuckAfter);
  Verification verification(options, output);
  verification.run();
  verification.finish();
}

void prove_given_files(const VerifyOptions& options, Output& output) {
  ProveOptions chosen{.files = options.files,
                      .semester = options.semester,
                      .images = options.images,
                      .limit_seconds = options.limit_seconds};
  if (!options.problem.empty() || !options.shapes.empty()) chosen.problems = chosen_problems(options);
  prove_files(chosen, output);
}

void verify_given_files(const VerifyOptions& options, Output& output) {
  VerifyFilesOptions chosen{.files = options.files,
                            .device = options.compute.device,
                            .semester = options.semester,
                            .images = options.images,
                            .threads = options.compute.threads,
                            .limit_seconds = options.limit_seconds,
                            .strict = options.strict,
                            .all = options.all,
                            .verbose = options.verbose,
                            .format = options.format,
                            .color = options.color};
  if (options.stuck_after_seconds > 0) chosen.stuck_after_seconds = options.stuck_after_seconds;
  if (!options.problem.empty() || !options.shapes.empty()) chosen.problems = chosen_problems(options);
  verify_files(chosen, output);
}

}  // namespace

Action declare_verify(CLI::App& options) {
  auto chosen = std::make_shared<VerifyOptions>();
  add_texts(options, "FILES", chosen->files, 0, kAnyNumber, "",
            "kernel files; each is compiled and checked in a separate process");
  add_text(options, "--kernel", chosen->kernel, "GLOB", "kernels with matching names (default: all of the device)");
  CLI::Option* problem = add_text(options, "--problem", chosen->problem, "TEXT", std::string(kOperatorHelp));
  exclude(
      add_text(options, "--shapes", chosen->shapes, "FILE", "file with one problem per line (default: shapes/*.txt)"),
      problem);
  add_text(options, "--device", chosen->compute.device, "D",
           "cpu, cuda, cuda:1 or simt (default: cpu; for CUDA files a GPU, or simt without one)");
  add_threads(options, chosen->compute);
  add_real(options, "--stuck-after", chosen->stuck_after_seconds, 0.1, 86400,
           "on simt: a kernel fails after X seconds of computing without progress (default: 30, for files 3)");
  add_semester(options, chosen->semester,
               "files: semester of the layers to run; sp25 is fall 2020 to spring 2025 (default: that of the file)");
  add_int(options, "-n,--images", chosen->images, 1, 1000000,
          "files: batch size of each layer (default: 10 on simt, else 1000)");
  add_real(options, "--time-limit", chosen->limit_seconds, 1, 86400,
           "files: a convolution fails after X seconds without progress (default: 60)");
  add_flag(options, "--strict", chosen->strict,
           "files on simt: also fail on faults that change no result: redundant writes, reads of uninitialized memory, "
           "barriers that some threads exited before, lanes of a warp that only wmma functions synchronize");
  add_flag(options, "--prove", chosen->prove,
           "files: prove on simt, for each shape, that the file computes the convolution for every input");
  add_flag(options, "-v,--verbose", chosen->verbose, "files: show each shape and all findings");
  add_flag(options, "--all", chosen->all,
           "files: run all shapes and show all findings (default: stop after 3 different findings)");
  add_choice(
      options, "--format", chosen->format, {"text", "gcc", "json", "sarif", "github"},
      "files: print findings as text, one line each (gcc), JSON, SARIF 2.1.0 or GitHub Actions workflow commands "
      "(default: text)");
  add_choice(options, "--color", chosen->color, {"auto", "always", "never"},
             "files: colors; auto uses them on a terminal unless NO_COLOR is set (default: auto)");
  return [chosen](Output& output) {
    if (chosen->prove && chosen->files.empty())
      throw bad_input("--prove takes kernel files: convlab verify FILE --prove");
    if (chosen->files.empty()) return verify(*chosen, output);
    if (chosen->prove) return prove_given_files(*chosen, output);
    verify_given_files(*chosen, output);
  };
}

}  // namespace convlab::app
