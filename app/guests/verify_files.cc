// convlab verify FILE...: verifies kernel files in child processes.

#include "app/guests/verify_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/guests/file_cases.h"
#include "app/guests/file_report.h"
#include "app/guests/file_trial.h"
#include "app/guests/guest_kernels.h"
#include "app/guests/registers.h"
#include "app/program.h"
#include "app/results/output_streams.h"
#include "app/results/progress_line.h"
#include "convlab/base/error.h"
#include "convlab/base/json.h"
#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "convlab/diagnostics/text_style.h"
#include "convlab/diagnostics/tool_forms.h"
#include "convlab/kernel_file/compiler.h"
#include "convlab/verify/cases.h"

namespace convlab::app {
namespace {

/// Whether all cases passed that the file's verdict depends on.
bool is_right(const std::vector<CaseReport>& reports) {
  return std::ranges::all_of(reports, [](const CaseReport& each) { return !each.counts() || each.passed(); });
}

/// Returns how badly a file fits a semester's one or two layers, as averages over the layers, to be compared in this
/// order: layers with out-of-bounds accesses, which suggest that its arrays are sized for other layers; layers that did
/// not pass; faults.
std::array<double, 3> misfit(const std::vector<CaseReport>& cases) {
  std::array<double, 3> sum{};
  double layers = 0;
  for (const CaseReport& each : cases) {
    if (!each.counts()) continue;
    ++layers;
    if (each.passed()) continue;
    const std::vector<const Finding*> faults = each.faults();
    sum[0] +=
        std::ranges::any_of(faults, [](const Finding* fault) { return fault->kind.starts_with("out of bounds"); });
    ++sum[1];
    sum[2] += static_cast<double>(faults.size());
  }
  for (double& each : sum) each /= layers;
  return sum;
}

std::map<std::string, int> large_blocks_of(const std::vector<CaseReport>& cases) {
  std::map<std::string, int> all;
  for (const CaseReport& each : cases) {
    for (const auto& [kernel, threads] : each.large_blocks) all[kernel] = std::max(all[kernel], threads);
  }
  return all;
}

class FileVerifier {
 public:
  explicit FileVerifier(const VerifyFilesOptions& options) : options_(options) {}

  /// All errors are in the report.
  FileReport verify(const std::string& file) {
    FileReport report{.file = file};
    try {
      judge(report);
    } catch (const FindingError& error) {
      report.reason = error.what();
      report.causes = error.findings();
    } catch (const Error& error) {
      report.reason = error.what();
      if (report.reason.starts_with(file + ": ")) report.reason.erase(0, file.size() + 2);
      if (error.kind() == ErrorKind::unavailable) unavailable_ = true;
      report.not_verified = report.outcome == FileOutcome::refused || error.kind() == ErrorKind::unavailable;
    }
    report.findings = findings_of(report);
    return report;
  }

  bool anything_unavailable() const { return unavailable_; }

 private:
  void judge(FileReport& report) {
    const KernelSource source = read_kernel_source(report.file);
    report.kind = name_of(source.kind);
    report.semester = options_.semester.empty() ? source.semester : options_.semester;
    const std::string device = device_for(source, options_.device);
    report.outcome = FileOutcome::not_compiled;
    const CompiledFile compiled = compile_for(source, device);
    report.device = device;
    report.compile_s = compiled.seconds;
    const FileTrial trial({.threads = options_.threads,
                           .stuck_after_seconds = options_.stuck_after_seconds,
                           .limit_seconds = options_.limit_seconds,
                           .strict = options_.strict,
                           .all = options_.all},
                          source, device, compiled.library.string());
    std::string printed;
    if (source.kind == FileKind::own || source.kind == FileKind::function || !options_.problems.empty()) {
      const std::vector<ConvProblem> problems = options_.problems.empty() ? default_problems() : options_.problems;
      report.cases = ask(trial, cases_of(problems, FileCase::Purpose::verdict), printed);
    } else {
      const int64_t images = options_.images > 0 ? options_.images : device == "simt" ? 10 : 1000;
      judge_as_course(trial, source, images, report, printed);
    }
    set_outcome(report);
    if (report.outcome == FileOutcome::failed) report.causes = warnings_of(source);
    report.printed = std::string(without_end(printed));
    if (const std::string note = register_note(source, large_blocks_of(report.cases)); !note.empty()) {
      report.notes.push_back(note);
    }
  }

  static std::vector<CaseReport> ask(const FileTrial& trial, std::vector<FileCase> cases, std::string& printed) {
    Progress progress("verifying", std::ssize(cases));
    return trial.ask(std::move(cases), printed, [&](const CaseReport&) { progress.advance(1); });
  }

  void judge_as_course(const FileTrial& trial, const KernelSource& source, int64_t images, FileReport& report,
                       std::string& printed) {
    std::vector<std::string> semesters{report.semester};
    if (options_.semester.empty()) semesters = possible_semesters(source);
    const auto try_as = [&](const std::string& semester, int64_t count) {
      const std::vector<ConvProblem> layers = semester_layers(semester, count);
      std::vector<FileCase> cases = cases_of(layers, FileCase::Purpose::verdict);
      std::ranges::copy(cases_of(layers, FileCase::Purpose::unzeroed), std::back_inserter(cases));
      std::ranges::copy(cases_of(awkward_problems(source), FileCase::Purpose::other_shape), std::back_inserter(cases));
      return ask(trial, std::move(cases), printed);
    };
    // If the file is wrong for all semesters, report its own; if that is a guess, the one that it fits best.
    const bool is_guess = options_.semester.empty() && source.semester_is_guess;
    for (const std::string& semester : semesters) {
      std::vector<CaseReport> cases = try_as(semester, images);
      const bool better = report.cases.empty() || is_right(cases) || (is_guess && misfit(cases) < misfit(report.cases));
      if (better) {
        report.cases = std::move(cases);
        report.semester = semester;
      }
      if (is_right(report.cases) || std::ranges::any_of(report.cases, &CaseReport::hung)) break;
    }
    if (is_guess) {
      const std::string_view why = is_right(report.cases) ? "" : ", with which it has the fewest errors";
      report.notes.push_back(
          fmt::format("the file does not say its semester; verified with the layers of {}{}. "
                      "Choose another with --semester",
                      report.semester, why));
    } else if (report.semester != semesters.front()) {
      report.notes.push_back(
          fmt::format("it fails on the layers of {} and passes on those of {}. Choose another "
                      "semester with --semester",
                      semesters.front(), report.semester));
    }
    // If the file is wrong: is it correct for a batch size that tiles divide evenly? The course used 100, 1000 and
    // 10000.
    constexpr int64_t kWellDivided = 100;
    constexpr double kPatience = 5;  // seconds; the larger batch takes ten times as long
    double seconds = 0;
    for (const CaseReport& each : report.cases) seconds += each.layer_s();
    const bool has_fault = std::ranges::any_of(report.cases, &CaseReport::has_kernel_fault);
    const bool hung = std::ranges::any_of(report.cases, &CaseReport::hung);
    if (options_.images == 0 && images < kWellDivided && !is_right(report.cases) && !has_fault && !hung &&
        seconds < kPatience) {
      std::vector<CaseReport> cases = try_as(report.semester, kWellDivided);
      if (is_right(cases)) {
        report.notes.push_back(
            fmt::format("it drops the end of a batch whose size is not a multiple of its tile: with {} images, {}",
                        images, first_reason(report.cases)));
        report.cases = std::move(cases);
      }
    }
    const auto unzeroed = std::stable_partition(report.cases.begin(), report.cases.end(), [](const CaseReport& each) {
      return each.asked.purpose != FileCase::Purpose::unzeroed;
    });
    if (std::any_of(unzeroed, report.cases.end(),
                    [](const CaseReport& each) { return each.outcome == FileOutcome::failed; })) {
      report.notes.emplace_back(
          "it needs the output to be zero before the call, as in the course: it adds to the output, or skips parts of "
          "it");
    }
    report.cases.erase(unzeroed, report.cases.end());
  }

  static std::string first_reason(const std::vector<CaseReport>& cases) {
    const auto wrong = std::ranges::find_if_not(cases, &CaseReport::passed);
    return wrong == cases.end() ? "" : wrong->reason;
  }

  static void set_outcome(FileReport& report) {
    report.outcome = FileOutcome::passed;
    if (std::ranges::all_of(report.cases, [](const CaseReport& c) { return c.outcome == FileOutcome::skipped; })) {
      report.outcome = FileOutcome::refused;
      report.reason = "it supports none of the shapes";
    }
    for (const CaseReport& each : report.cases) {
      if (!each.counts() || each.outcome == FileOutcome::passed || each.outcome == FileOutcome::skipped) continue;
      if (report.outcome == FileOutcome::passed || each.outcome == FileOutcome::failed) report.outcome = each.outcome;
    }
  }

  const VerifyFilesOptions& options_;
  bool unavailable_ = false;
};

/// Prints all findings of all files in a format for other programs.
void print_findings(Output& output, const std::vector<FileReport>& reports, const std::string& format) {
  std::vector<Finding> all;
  for (const FileReport& each : reports) {
    std::ranges::copy(each.findings, std::back_inserter(all));
    if (each.passed() || errors_in(each.findings) > 0) continue;
    const std::string name(name_of(each.outcome));
    all.push_back({.kind = name, .text = each.reason.empty() ? name : each.reason, .labels = {{.place = {each.file}}}});
  }
  if (format == "sarif") {
    output.print("{}", sarif_form(all, CONVLAB_VERSION));
    return;
  }
  for (const Finding& each : all) output.print("{}\n", format == "gcc" ? gcc_form(each) : github_form(each));
}

}  // namespace

void verify_files(const VerifyFilesOptions& options, Output& output) {
  if (!options.device.empty()) require_device_name(options.device);
  FileVerifier verifier(options);
  std::array<int, kFileOutcomes> counts{};
  Json files = Json::array();
  std::vector<FileReport> reports;
  const bool is_text = options.format == "text";
  ReportStyle style{.text = text_style(results_stream(), options.color),
                    .verbose = options.verbose,
                    .all = options.all,
                    .many_files = options.files.size() > 1};
  style.text.details = options.verbose;
  for (const std::string& file : options.files) {
    const FileReport& report = reports.emplace_back(verifier.verify(file));
    ++counts[static_cast<size_t>(report.outcome)];
    if (is_text) print_report(output, report, style);
    files.push_back(to_json(report));
    if (output.wants_json()) output.json_so_far({{"files", files}});
  }
  if (is_text) {
    output.print("{}", verdict_line(reports));
  } else if (options.format == "json") {
    output.print("{}\n", json_text(Json{{"files", files}}, 2));
  } else {
    print_findings(output, reports, options.format);
  }
  if (output.wants_json()) output.json({{"files", std::move(files)}});
  const auto [passed, failed, refused, not_compiled, timed_out, skipped] = counts;
  static_cast<void>(passed), static_cast<void>(skipped);  // only cases are skipped, not files
  // All errors have already been printed.
  if (failed + timed_out > 0) throw ExitStatus{static_cast<int>(ErrorKind::wrong_result)};
  if (refused + not_compiled == 0) return;
  throw ExitStatus{static_cast<int>(verifier.anything_unavailable() ? ErrorKind::unavailable : ErrorKind::bad_input)};
}

}  // namespace convlab::app
