// Runs the cases of a kernel file in child processes and reads their results.

#include "app/guests/file_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/json.h"
#include "convlab/base/text.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/verify/noticed.h"

namespace convlab::app {
namespace {

using Json = nlohmann::ordered_json;

double number(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

void skip(CaseReport& report, const std::string& why, const FileTrial::OnReport& on_report) {
  report.outcome = FileOutcome::skipped;
  report.reason = why;
  on_report(report);
}

std::string last_line(std::string_view text) {
  text = without_end(text);
  const size_t begin = text.rfind('\n');
  return printable(begin == std::string_view::npos ? text : text.substr(begin + 1));
}

void take(const Json& json, CaseReport& report) {
  const auto verdict = json.at("verdict").get<std::string>();
  report.outcome = verdict == "PASSED"    ? FileOutcome::passed
                   : verdict == "SKIPPED" ? FileOutcome::skipped
                                          : FileOutcome::failed;
  report.reason = json.at("reason").get<std::string>();
  report.findings.clear();
  for (const Json& each : json.at("findings")) report.findings.push_back(finding_of(each));
  report.large_blocks = json.at("large_blocks").get<std::map<std::string, int>>();
  report.math = json.at("math").get<std::string>();
  report.largest_error = number(json, "largest_error");
  report.prolog_s = number(json, "prolog_s");
  report.call_s = number(json, "call_s");
  report.epilog_s = number(json, "epilog_s");
  report.computes_in_prolog = json.value("computes_in_prolog", false);
}

}  // namespace

std::string_view name_of(FileOutcome outcome) {
  constexpr std::array<std::string_view, kFileOutcomes> kNames{"PASSED",       "FAILED",    "REFUSED",
                                                               "NOT_COMPILED", "TIMED_OUT", "SKIPPED"};
  return kNames[static_cast<size_t>(outcome)];
}

std::vector<const Finding*> CaseReport::faults() const {
  std::vector<const Finding*> all;
  for (const Finding& each : findings) {
    if (each.severity == Severity::error && is_fault(each)) all.push_back(&each);
  }
  return all;
}

std::string_view without_end(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

FileTrial::FileTrial(TrialOptions options, KernelSource source, std::string device, std::string library)
    : options_(options), source_(std::move(source)), device_(std::move(device)), library_(std::move(library)) {}

std::vector<CaseReport> FileTrial::ask(std::vector<FileCase> cases, std::string& printed,
                                       const OnReport& on_report) const {
  std::vector<CaseReport> reports(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) reports[i].asked = cases[i];
  size_t first = 0;
  while (first < cases.size()) {
    first = ask_from(first, cases, reports, printed, on_report);
    const std::span judged(reports.begin(), first);
    if (std::ranges::any_of(judged, [](const CaseReport& each) { return each.counts() && !each.passed(); })) {
      std::erase_if(cases, [](const FileCase& each) { return each.purpose != FileCase::Purpose::verdict; });
      reports.resize(cases.size());
    }
    const bool hung = std::ranges::any_of(reports, &CaseReport::hung);
    for (; hung && first < cases.size(); ++first) {
      skip(reports[first], std::string(kHungBefore), on_report);
    }
  }
  return reports;
}

/// Runs the cases from `first` on in one child process, and returns the index of the first that did not run.
size_t FileTrial::ask_from(size_t first, const std::vector<FileCase>& cases, std::vector<CaseReport>& reports,
                           std::string& printed, const OnReport& on_report) const {
  std::vector<std::string> arguments{"convlab",       "judge-file",
                                     "--file",        std::filesystem::absolute(source_.path).string(),
                                     "--library",     library_,
                                     "--device",      device_,
                                     "--threads",     std::to_string(options_.threads),
                                     "--stuck-after", fmt::format("{}", options_.stuck_after_seconds)};
  if (options_.strict) arguments.emplace_back("--strict");
  if (options_.all) arguments.emplace_back("--all");
  for (size_t i = first; i < cases.size(); ++i) arguments.push_back(case_text(cases[i]));
  size_t at = first, next = first;     // the current case; the first that has not begun
  bool lost = false;                   // that process can no longer use the device
  std::optional<Finding> failed_call;  // the first of the current case, or a worse one
  std::optional<Label> hangs_at;
  std::optional<Error> refusal;
  const auto skip_from = [&](size_t from, const std::string& why) {
    for (size_t i = from; i < cases.size(); ++i) skip(reports.at(i), why, on_report);
  };
  const auto take_line = [&](std::string_view line) {
    const Json json = parse_json(line, "answer of a child process");
    if (json.contains("error")) {
      refusal.emplace(static_cast<ErrorKind>(json.at("kind").get<int>()), json.at("error").get<std::string>());
    } else if (json.contains("begin")) {
      at = std::min(first + json.at("begin").get<size_t>(), cases.size() - 1);
      next = at + 1;
      failed_call.reset();
    } else if (json.contains("at")) {
      hangs_at.emplace(Label{.place = parse_place(json.at("at").get<std::string>())});
    } else if (json.contains("failed_call")) {
      failed_call = finding_of(json.at("failed_call"));
    } else if (json.contains("case")) {
      CaseReport& report = reports.at(first + json.at("case").get<size_t>());
      take(json, report);
      on_report(report);
    } else if (json.contains("lost")) {
      lost = true;
    } else if (json.contains("enough_from")) {
      skip_from(first + json.at("enough_from").get<size_t>(), json.at("why").get<std::string>());
    }
  };
  const auto on_line = [&](std::string_view line) {
    try {
      take_line(line);
    } catch (const std::exception&) {  // not our line: the file wrote to our file descriptor
    }
  };
  const GuestEnd end = run_guest(std::move(arguments), options_.limit_seconds, on_line, folder_.path());
  if (printed.empty()) printed = end.printed;
  if (refusal) throw Error(*refusal);
  if (end.how == GuestEnd::How::done) return lost ? next : cases.size();
  CaseReport& report = reports.at(at);
  report.outcome = end.how == GuestEnd::How::out_of_time ? FileOutcome::timed_out : FileOutcome::failed;
  Finding ended{.kind = std::string(kAbnormalEnd), .text = describe(end, options_.limit_seconds)};
  if (hangs_at) ended.labels.push_back(*hangs_at);
  if (const std::string last = last_line(end.printed); !last.empty()) {
    ended.notes.push_back(fmt::format("the last line it printed: {}", last));
  }
  report.findings = {ended};
  if (failed_call) report.findings.insert(report.findings.begin(), *failed_call);
  report.reason = in_one_line(ended);
  if (failed_call) report.reason = fmt::format("{}; after that, {}", in_one_line(*failed_call), report.reason);
  on_report(report);
  if (next == first) next = first + 1;  // it ended while loading, before the first case
  return next;
}

}  // namespace convlab::app
