// convlab verify FILE...: anybody's kernel files, each in a process of its own.

#include "app/guests/verify_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/guests/file_cases.h"
#include "app/guests/file_trial.h"
#include "app/guests/kernel_files.h"
#include "app/guests/registers.h"
#include "app/results/file_times.h"
#include "convlab/base/error.h"
#include "convlab/base/json.h"
#include "convlab/base/text.h"
#include "convlab/kernel_file/compiler.h"
#include "convlab/verify/cases.h"

namespace convlab::app {
namespace {

struct FileReport {
  std::string file, kind, semester;
  FileOutcome outcome = FileOutcome::refused;
  std::string reason;  ///< where there are no cases
  std::vector<std::string> notes;
  std::string printed;  ///< by the file itself
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

void print_line(Output& output, std::string_view outcome, const std::string& file, const std::string& text) {
  output.print("{:<13}{}  {}\n", outcome, file, text);
}

void print_case(Output& output, const std::string& file, const CaseReport& report) {
  if (report.asked.purpose == FileCase::Purpose::unzeroed) return;  // a note tells
  const std::string_view outcome = report.counts() ? name_of(report.outcome) : "NOTE";
  print_line(output, outcome, file, fmt::format("{}: {}", to_text(report.asked.problem), detail_of(report)));
}

constexpr size_t kFewCases = 8;  // each has a line

/// What failures have in common that have one cause: the fault's line, or the words without their numbers.
std::string likeness(const CaseReport& report) {
  std::string text = report.reason.substr(0, report.reason.find("; first "));
  std::erase_if(text, [](char c) { return std::isdigit(static_cast<unsigned char>(c)); });
  return report.fault_kinds.empty() ? text : report.fault_kinds.front();
}

/// Many cases in a few lines: the smallest that fails as a whole, and how many are like it.
void print_many(Output& output, const std::string& file, const std::vector<CaseReport>& cases) {
  std::vector<const CaseReport*> failed;
  std::map<std::string, int64_t> refusals;
  int64_t passed = 0, skipped = 0;
  for (const CaseReport& each : cases) {
    if (each.passed()) {
      ++passed;
    } else if (each.outcome == FileOutcome::skipped) {
      ++skipped, ++refusals[each.reason];
    } else {
      failed.push_back(&each);
    }
  }
  std::ranges::stable_sort(failed, {}, [](const CaseReport* each) { return each->asked.problem.flops(); });
  const int64_t tried = passed + std::ssize(failed);
  constexpr int kMostGroups = 4;
  for (int group = 0; !failed.empty(); ++group) {
    const CaseReport& first = *failed.front();
    if (group == kMostGroups) {
      print_line(output, name_of(first.outcome), file, fmt::format("{} more; -v shows each", failed.size()));
      break;
    }
    const auto others = std::stable_partition(
        failed.begin(), failed.end(), [&](const CaseReport* each) { return likeness(*each) == likeness(first); });
    const std::vector<const CaseReport*> alike(failed.begin(), others);
    failed.erase(failed.begin(), others);
    print_case(output, file, first);
    std::string examples;
    for (size_t i = 1; i < std::min<size_t>(alike.size(), 3); ++i) {
      examples += fmt::format("{}{}", i > 1 ? ", " : "", to_text(alike[i]->asked.problem));
    }
    if (examples.empty()) continue;
    print_line(output, name_of(first.outcome), file,
               fmt::format("{} of {} shapes fail alike, e.g. {}", alike.size(), tried, examples));
  }
  if (passed > 0) print_line(output, name_of(FileOutcome::passed), file, fmt::format("{} of {} shapes", passed, tried));
  if (skipped == 0) return;
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : refusals) reasons.push_back(fmt::format("{} ({})", reason, count));
  print_line(output, name_of(FileOutcome::skipped), file,
             fmt::format("{} shapes: {}", skipped, fmt::join(reasons, ", ")));
}

/// What a file printed, as lines.
void print_lines_of(Output& output, const std::string& file, const std::string& printed) {
  if (printed.empty()) return;
  constexpr size_t kMostLines = 20;
  const std::vector<std::string> lines = split(printed, '\n');
  print_line(output, "PRINTED", file, fmt::format("{} line{}:", lines.size(), lines.size() == 1 ? "" : "s"));
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) output.print("  {}\n", printable(lines[i]));
  if (lines.size() > kMostLines) output.print("  ... and {} more\n", lines.size() - kMostLines);
}

/// How badly a file fits a semester's layers, of which there are one or two: first whether it leaves its arrays, which
/// were made for others.
std::array<double, 3> misfit(const std::vector<CaseReport>& cases) {
  std::array<double, 3> sum{};
  double layers = 0;
  for (const CaseReport& each : cases) {
    if (!each.counts()) continue;
    ++layers;
    if (each.passed()) continue;
    sum[0] += std::ranges::any_of(each.fault_kinds,
                                  [](const std::string& kind) { return kind.starts_with("out of bounds"); });
    ++sum[1];
    sum[2] += static_cast<double>(each.fault_kinds.size());
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
    for (const std::string& note : report.notes) print_line(output_, "NOTE", file, note);
    print_lines_of(output_, file, report.printed);
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
    const FileTrial trial({options_.threads, options_.stuck_after_seconds, options_.limit_seconds, options_.strict},
                          source, device, library);
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
    if (report.outcome == FileOutcome::failed) {
      for (const std::string& warning : warnings_of(source)) report.notes.push_back(warning);
    }
    report.printed = std::string(without_end(printed));
    if (const std::string note = register_note(source, large_blocks_of(report.cases)); !note.empty()) {
      report.notes.push_back(note);
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
    const bool each_has_a_line = options_.verbose || problems.size() <= kFewCases;
    report.cases = trial.ask(cases_of(problems, FileCase::Purpose::verdict), printed, [&](const CaseReport& each) {
      if (each_has_a_line) print_case(output_, report.file, each);
    });
    if (!each_has_a_line) print_many(output_, report.file, report.cases);
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
    // Of a file that is wrong on all, its own semester's are told; where that is a guess, those that it fits best.
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
      const std::string_view why = is_right(report.cases) ? "" : ", whose layers it fits best";
      report.notes.push_back(
          fmt::format("nothing in the file tells its semester: taken as one of {}{}; --semester says another",
                      report.semester, why));
    } else if (report.semester != semesters.front()) {
      report.notes.push_back(fmt::format("it fails on {}'s layers and is taken as one of {}; --semester says another",
                                         semesters.front(), report.semester));
    }
    // Of a wrong file: is it right where the number of images divides well? The course's were 100, 1000 and 10000.
    constexpr int64_t kWellDivided = 100;
    constexpr double kPatience = 5;  // seconds, which become ten times as many
    double seconds = 0;
    for (const CaseReport& each : report.cases) seconds += each.layer_s();
    const bool has_fault = std::ranges::any_of(report.cases, &CaseReport::has_kernel_fault);
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
    const auto unzeroed = std::stable_partition(report.cases.begin(), report.cases.end(), [](const CaseReport& each) {
      return each.asked.purpose != FileCase::Purpose::unzeroed;
    });
    if (std::any_of(unzeroed, report.cases.end(),
                    [](const CaseReport& each) { return each.outcome == FileOutcome::failed; })) {
      report.notes.emplace_back(
          "it needs y to be zero before the call, as the course's harness leaves it: it adds to y or leaves parts of "
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
          {"printed", report.printed},   {"cases", std::move(cases)}};
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
