// convlab verify FILE...: anybody's kernel files, each in a process of its own.

#include "app/guests/verify_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/guests/file_cases.h"
#include "app/guests/file_trial.h"
#include "app/guests/kernel_files.h"
#include "app/results/file_times.h"
#include "convlab/base/error.h"
#include "convlab/base/json.h"
#include "convlab/base/text.h"
#include "convlab/verify/cases.h"

namespace convlab::app {
namespace {

struct FileReport {
  std::string file, kind, semester;
  FileOutcome outcome = FileOutcome::refused;
  std::string reason;  ///< where there are no cases
  std::vector<std::string> notes;
  std::vector<CaseReport> cases;
};

/// Whether all passed that the file's verdict depends on.
bool is_right(const std::vector<CaseReport>& reports) {
  return std::ranges::all_of(reports, [](const CaseReport& each) { return !each.counts() || each.passed(); });
}

/// Why the case did not pass.
std::string reason_of(const CaseReport& report) {
  const bool tried = report.outcome != FileOutcome::skipped && !report.passed();
  if (report.asked.purpose != FileCase::Purpose::other_shape || !tried) return report.reason;
  return "right on its semester's layers, not here: " + report.reason;
}

std::string detail_of(const CaseReport& report) {
  if (!report.passed()) return reason_of(report);
  if (report.call_s == 0) return "keeps a kernel's contract";
  std::string text =
      fmt::format("{}, largest error {:.1e}, {}", report.math, report.largest_error, time_text(report.call_s));
  if (report.prolog_s > 0) {
    text += fmt::format(" (prolog {}, epilog {}, prolog to epilog {}{})", time_text(report.prolog_s),
                        time_text(report.epilog_s), time_text(report.layer_s()),
                        report.computes_in_prolog ? ": it computes in its prolog" : "");
  }
  return text;
}

void print_case(Output& output, const std::string& file, const CaseReport& report) {
  if (report.asked.purpose == FileCase::Purpose::unzeroed) return;  // a note tells
  const std::string_view outcome = report.counts() ? name_of(report.outcome) : "NOTE";
  output.print("{:<13}{}  {}: {}\n", outcome, file, to_text(report.asked.problem), detail_of(report));
}

class FilesVerifier {
 public:
  FilesVerifier(const VerifyFilesOptions& options, Output& output) : options_(options), output_(output) {}

  /// Whatever happens to it is in the report.
  FileReport verify(const std::string& file) {
    FileReport report{.file = file};
    shown_ = false;
    try {
      judge(report);
    } catch (const Error& error) {
      report.reason = error.what();
      if (error.kind() == ErrorKind::unavailable) unavailable_ = true;
    }
    if (!shown_) {
      for (const CaseReport& each : report.cases) print_case(output_, file, each);
    }
    for (const std::string& note : report.notes) output_.print("{:<13}{}  {}\n", "NOTE", file, note);
    if (report.cases.empty()) output_.print("{:<13}{}\n", name_of(report.outcome), report.reason);
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
    const std::string library = library_for(source, device);
    const FileTrial trial({options_.threads, options_.stuck_after_seconds, options_.limit_seconds}, source, device,
                          library);
    std::string printed;
    if (source.kind == FileKind::own || source.kind == FileKind::function || !options_.problems.empty()) {
      judge_by_contract(trial, report, printed);
    } else {
      const int64_t images = options_.images > 0 ? options_.images : device == "simt" ? 10 : 1000;
      judge_as_course(trial, source, images, report, printed);
    }
    set_outcome(report);
    for (const CaseReport& each : report.cases) {
      if (each.note.empty() || !each.counts() || !each.passed()) continue;
      report.notes.push_back(fmt::format("without consequence here: {}", each.note));
      break;
    }
    if (!printed.empty() && report.outcome != FileOutcome::passed) {
      report.notes.push_back(fmt::format("it printed: {}", printable(without_end(printed))));
    }
  }

  /// Shows cases as soon as `deciding` ones are there and right. Until then the file may be tried otherwise.
  FileTrial::OnReport showing(const std::string& file, size_t deciding) {
    return [this, file, deciding, held = std::vector<CaseReport>()](const CaseReport& each) mutable {
      held.push_back(each);
      if (held.size() < deciding || !is_right(held)) return;
      for (const CaseReport& one : std::exchange(held, {})) print_case(output_, file, one);
      deciding = 0;
      shown_ = true;
    };
  }

  void judge_by_contract(const FileTrial& trial, FileReport& report, std::string& printed) {
    shown_ = true;
    const std::vector<ConvProblem> problems = options_.problems.empty() ? default_problems() : options_.problems;
    report.cases = trial.ask(cases_of(problems, FileCase::Purpose::verdict), printed,
                             [&](const CaseReport& each) { print_case(output_, report.file, each); });
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
      return trial.ask(std::move(cases), printed, showing(report.file, layers.size()));
    };
    for (const std::string& semester : semesters) {
      std::vector<CaseReport> cases = try_as(semester, images);
      if (!report.cases.empty() && !is_right(cases)) continue;
      report.cases = std::move(cases);
      report.semester = semester;
      if (is_right(report.cases) || std::ranges::any_of(report.cases, &CaseReport::hung)) break;
    }
    if (report.semester != semesters.front()) {
      report.notes.push_back(fmt::format("it fails on {}'s layers and is taken as one of {}; --semester says another",
                                         semesters.front(), report.semester));
    } else if (options_.semester.empty() && source.semester_is_guess) {
      report.notes.push_back(fmt::format(
          "nothing in the file tells its semester: taken as one of {}; --semester says another", report.semester));
    }
    // Of a wrong file: is it right where the number of images divides well? The course's were 100, 1000 and 10000.
    constexpr int64_t kWellDivided = 100;
    constexpr double kPatience = 5;  // seconds, which become ten times as many
    double seconds = 0;
    for (const CaseReport& each : report.cases) seconds += each.layer_s();
    const bool has_fault =
        std::ranges::any_of(report.cases, [](const CaseReport& each) { return each.faults != "[]"; });
    const bool hung = std::ranges::any_of(report.cases, &CaseReport::hung);
    if (options_.images == 0 && images < kWellDivided && !is_right(report.cases) && !has_fault && !hung &&
        seconds < kPatience) {
      std::vector<CaseReport> cases = try_as(report.semester, kWellDivided);
      if (is_right(cases)) {
        report.notes.push_back(fmt::format("it drops the end of a batch that it cannot divide: with {} images {}",
                                           images, first_reason(report.cases)));
        report.cases = std::move(cases);
      }
    }
    const auto unzeroed = std::ranges::stable_partition(
        report.cases, [](const CaseReport& each) { return each.asked.purpose != FileCase::Purpose::unzeroed; });
    if (std::ranges::any_of(unzeroed, [](const CaseReport& each) { return each.outcome == FileOutcome::failed; })) {
      report.notes.emplace_back(
          "it needs y to be zero before the call, as the course's harness leaves it: it adds to y or leaves parts of "
          "it");
    }
    report.cases.erase(unzeroed.begin(), unzeroed.end());
  }

  static std::string first_reason(const std::vector<CaseReport>& cases) {
    const auto wrong = std::ranges::find_if_not(cases, &CaseReport::passed);
    return wrong == cases.end() ? "" : wrong->reason;
  }

  static void set_outcome(FileReport& report) {
    report.outcome = FileOutcome::passed;
    if (std::ranges::all_of(report.cases, [](const CaseReport& c) { return c.outcome == FileOutcome::skipped; })) {
      report.outcome = FileOutcome::refused;
      report.reason = "it refuses every problem";
    }
    for (const CaseReport& each : report.cases) {
      if (!each.counts() || each.outcome == FileOutcome::passed || each.outcome == FileOutcome::skipped) continue;
      if (report.outcome == FileOutcome::passed || each.outcome == FileOutcome::failed) report.outcome = each.outcome;
    }
  }

  const VerifyFilesOptions& options_;
  Output& output_;
  bool unavailable_ = false;
  bool shown_ = false;  ///< whether the cases of the file in work are
};

Json to_json(const FileReport& report) {
  Json cases = Json::array();
  for (const CaseReport& each : report.cases) {
    Json json{{"problem", to_text(each.asked.problem)},
              {"verdict", name_of(each.outcome)},
              {"reason", reason_of(each)},
              {"faults", parse_json(each.faults, "faults")},
              {"counts", each.counts()}};
    if (each.outcome == FileOutcome::passed) {
      json["math"] = each.math;
      json["largest_error"] = each.largest_error;
      json["prolog_s"] = each.prolog_s;
      json["call_s"] = each.call_s;
      json["epilog_s"] = each.epilog_s;
      json["layer_s"] = each.layer_s();
      json["computes_in_prolog"] = each.computes_in_prolog;
    }
    cases.push_back(std::move(json));
  }
  return {{"file", report.file},         {"kind", report.kind},
          {"semester", report.semester}, {"verdict", name_of(report.outcome)},
          {"reason", report.reason},     {"notes", report.notes},
          {"cases", std::move(cases)}};
}

}  // namespace

void verify_files(const VerifyFilesOptions& options, Output& output) {
  FilesVerifier verifier(options, output);
  std::array<int, kFileOutcomes> counts{};
  Json files = Json::array();
  for (const std::string& file : options.files) {
    const FileReport report = verifier.verify(file);
    ++counts[static_cast<size_t>(report.outcome)];
    output.print("{:<13}{} ({}{}{})\n", name_of(report.outcome), file, report.kind.empty() ? "no kind" : report.kind,
                 report.semester.empty() ? "" : ", ", report.semester);
    files.push_back(to_json(report));
    if (output.wants_json()) output.json_so_far({{"files", files}});
  }
  const auto [passed, failed, refused, not_compiled, timed_out, skipped] = counts;
  static_cast<void>(skipped);  // cases alone
  output.print("{} files: {} passed, {} failed, {} timed out, {} not compiled, {} refused\n", options.files.size(),
               passed, failed, timed_out, not_compiled, refused);
  if (output.wants_json()) output.json({{"files", std::move(files)}});
  if (failed + timed_out > 0) throw wrong_result("{} of {} files failed", failed + timed_out, options.files.size());
  if (refused + not_compiled == 0) return;
  const std::string text =
      fmt::format("{} of {} files could not be tried", refused + not_compiled, options.files.size());
  if (verifier.anything_unavailable()) throw unavailable("{}", text);
  throw bad_input("{}", text);
}

}  // namespace convlab::app
