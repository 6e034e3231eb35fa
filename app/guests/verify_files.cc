// convlab verify FILE...: anybody's kernel files, each in a process of its own.

#include "app/guests/verify_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/guests/file_cases.h"
#include "app/guests/guest.h"
#include "app/guests/kernel_files.h"
#include "convlab/base/error.h"
#include "convlab/base/json.h"
#include "convlab/base/text.h"
#include "convlab/verify/cases.h"

namespace convlab::app {
namespace {

/// What a file's judgement came to; the names are those of the JSON.
enum class FileOutcome { passed, failed, refused, not_compiled, timed_out, skipped };

constexpr size_t kOutcomes = 6;

std::string_view name_of(FileOutcome outcome) {
  constexpr std::array<std::string_view, kOutcomes> kNames{"PASSED",       "FAILED",    "REFUSED",
                                                           "NOT_COMPILED", "TIMED_OUT", "SKIPPED"};
  return kNames[static_cast<size_t>(outcome)];
}

struct CaseReport {
  FileCase asked;
  FileOutcome outcome = FileOutcome::failed;
  std::string reason, note;
  Json faults = Json::array();
  std::string math = "fp32";
  double largest_error = 0, prolog_s = 0, call_s = 0, epilog_s = 0;

  bool counts() const { return asked.purpose == FileCase::Purpose::verdict; }
};

struct FileReport {
  std::string file, kind, semester;
  FileOutcome outcome = FileOutcome::refused;
  std::string reason;  ///< where there are no cases
  std::vector<std::string> notes;
  std::vector<CaseReport> cases;
};

double number(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

/// The text without the white space at its end.
std::string_view without_end(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

bool has_hung(const CaseReport& report) { return report.outcome == FileOutcome::timed_out; }
bool has_passed(const CaseReport& report) { return report.outcome == FileOutcome::passed; }

/// One file with its library, on one device.
class FileTrial {
 public:
  FileTrial(const VerifyFilesOptions& options, KernelSource source, std::string device, std::string library)
      : options_(options), source_(std::move(source)), device_(std::move(device)), library_(std::move(library)) {}

  /// Asks the cases, in order, in one process, or where the file ends that, in one more for those that are left. Of a
  /// wrong file the result has only what its verdict depends on. `on_report` hears each case as soon as it is there.
  using OnReport = std::function<void(const CaseReport&)>;
  std::vector<CaseReport> ask(std::vector<FileCase> cases, std::string& printed, const OnReport& on_report) const {
    std::vector<CaseReport> reports(cases.size());
    for (size_t i = 0; i < cases.size(); ++i) reports[i].asked = cases[i];
    size_t first = 0;
    while (first < cases.size()) {
      first = ask_from(first, cases, reports, printed, on_report);
      const std::span told(reports.begin(), first);
      if (std::ranges::any_of(told, [](const CaseReport& each) { return each.counts() && !has_passed(each); })) {
        std::erase_if(cases, [](const FileCase& each) { return each.purpose != FileCase::Purpose::verdict; });
        reports.resize(cases.size());
      }
      const bool hung = std::ranges::any_of(reports, has_hung);
      for (; hung && first < cases.size(); ++first) {
        skip(reports[first], "not tried, since the file hung before", on_report);
      }
    }
    return reports;
  }

 private:
  static void skip(CaseReport& report, const std::string& why, const OnReport& on_report) {
    report.outcome = FileOutcome::skipped;
    report.reason = why;
    on_report(report);
  }

  /// Asks the cases from `first` on, and returns the first that was not asked.
  size_t ask_from(size_t first, const std::vector<FileCase>& cases, std::vector<CaseReport>& reports,
                  std::string& printed, const OnReport& on_report) const {
    std::vector<std::string> arguments{"convlab",       "judge-file",
                                       "--file",        std::filesystem::absolute(source_.path).string(),
                                       "--library",     library_,
                                       "--device",      device_,
                                       "--threads",     std::to_string(options_.threads),
                                       "--stuck-after", fmt::format("{}", options_.stuck_after_seconds)};
    for (size_t i = first; i < cases.size(); ++i) arguments.push_back(case_text(cases[i]));
    size_t at = first, next = first;  // the case in work; the first that was not begun
    bool lost = false;                // the device, to that process
    std::optional<Error> refusal;
    const auto hear = [&](std::string_view line) {
      const Json json = parse_json(line, "a guest's answer");
      if (json.contains("error")) {
        refusal.emplace(static_cast<ErrorKind>(json.at("kind").get<int>()), json.at("error").get<std::string>());
      } else if (json.contains("begin")) {
        at = std::min(first + json.at("begin").get<size_t>(), cases.size() - 1);
        next = at + 1;
      } else if (json.contains("case")) {
        CaseReport& report = reports.at(first + json.at("case").get<size_t>());
        take(json, report);
        on_report(report);
      } else if (json.contains("lost")) {
        lost = true;
      } else if (json.contains("enough_from")) {
        for (size_t i = first + json.at("enough_from").get<size_t>(); i < cases.size(); ++i) {
          skip(reports.at(i), "not tried, since the file takes long", on_report);
        }
      }
    };
    const auto on_line = [&](std::string_view line) {
      try {
        hear(line);
      } catch (const std::exception&) {  // no line of ours: the file writes where it should not
      }
    };
    const GuestEnd end = run_guest(std::move(arguments), options_.limit_seconds, on_line, folder_.path());
    if (printed.empty()) printed = end.printed;
    if (refusal) throw Error(*refusal);
    if (end.how == GuestEnd::How::done) return lost ? next : cases.size();
    CaseReport& report = reports.at(at);
    report.outcome = end.how == GuestEnd::How::out_of_time ? FileOutcome::timed_out : FileOutcome::failed;
    report.reason = describe(end, options_.limit_seconds);
    if (const std::string last = last_line(end.printed); !last.empty())
      report.reason += fmt::format(", after printing '{}'", last);
    on_report(report);
    if (next == first) next = first + 1;  // it ended before the first case, while it was loaded
    return next;
  }

  static std::string last_line(std::string_view text) {
    text = without_end(text);
    const size_t begin = text.rfind('\n');
    return printable(begin == std::string_view::npos ? text : text.substr(begin + 1));
  }

  static void take(const Json& json, CaseReport& report) {
    const auto verdict = json.at("verdict").get<std::string>();
    report.outcome = verdict == "PASSED"    ? FileOutcome::passed
                     : verdict == "SKIPPED" ? FileOutcome::skipped
                                            : FileOutcome::failed;
    report.reason = json.at("reason").get<std::string>();
    report.note = json.at("note").get<std::string>();
    report.faults = json.at("faults");
    report.math = json.at("math").get<std::string>();
    report.largest_error = number(json, "largest_error");
    report.prolog_s = number(json, "prolog_s");
    report.call_s = number(json, "call_s");
    report.epilog_s = number(json, "epilog_s");
  }

  const VerifyFilesOptions& options_;
  KernelSource source_;
  std::string device_, library_;
  GuestFolder folder_;
};

/// Whether all passed that the file's verdict depends on.
bool is_right(const std::vector<CaseReport>& reports) {
  return std::ranges::all_of(reports, [](const CaseReport& each) { return !each.counts() || has_passed(each); });
}

std::string time_text(double seconds) {
  return seconds < 1 ? fmt::format("{:.3f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

/// Why the case did not pass.
std::string reason_of(const CaseReport& report) {
  const bool tried = report.outcome != FileOutcome::skipped && !has_passed(report);
  if (report.asked.purpose != FileCase::Purpose::other_shape || !tried) return report.reason;
  return "right on its semester's layers, not here: " + report.reason;
}

std::string detail_of(const CaseReport& report) {
  if (!has_passed(report)) return reason_of(report);
  if (report.call_s == 0) return "keeps a kernel's contract";
  std::string text =
      fmt::format("{}, largest error {:.1e}, {}", report.math, report.largest_error, time_text(report.call_s));
  if (report.prolog_s > 0) {
    text += fmt::format(" (prolog {}, epilog {})", time_text(report.prolog_s), time_text(report.epilog_s));
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
    const FileTrial trial(options_, source, device, library);
    std::string printed;
    if (source.kind == FileKind::own || source.kind == FileKind::function || !options_.problems.empty()) {
      judge_by_contract(trial, report, printed);
    } else {
      const int64_t images = options_.images > 0 ? options_.images : device == "simt" ? 10 : 1000;
      judge_as_course(trial, source, images, report, printed);
    }
    set_outcome(report);
    for (const CaseReport& each : report.cases) {
      if (each.note.empty() || !each.counts() || !has_passed(each)) continue;
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
      if (is_right(report.cases) || std::ranges::any_of(report.cases, has_hung)) break;
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
    for (const CaseReport& each : report.cases) seconds += each.prolog_s + each.call_s + each.epilog_s;
    const bool has_fault =
        std::ranges::any_of(report.cases, [](const CaseReport& each) { return !each.faults.empty(); });
    const bool hung = std::ranges::any_of(report.cases, has_hung);
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
    const auto wrong = std::ranges::find_if_not(cases, has_passed);
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
              {"faults", each.faults},
              {"counts", each.counts()}};
    if (each.outcome == FileOutcome::passed) {
      json["math"] = each.math;
      json["largest_error"] = each.largest_error;
      json["prolog_s"] = each.prolog_s;
      json["call_s"] = each.call_s;
      json["epilog_s"] = each.epilog_s;
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
  std::array<int, kOutcomes> counts{};
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
