// Writes the report of `convlab verify FILE` as text and as JSON.

#include "app/guests/file_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/results/file_times.h"
#include "convlab/base/text.h"
#include "convlab/diagnostics/compiler_output.h"
#include "convlab/diagnostics/source_lines.h"
#include "convlab/verify/diagnosis.h"
#include "convlab/verify/noticed.h"

namespace convlab::app {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLines = 25;

std::string count_text(int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Returns the path as the user typed it if it is the file itself, otherwise relative to the current folder if it is
/// inside it.
std::string shown_path(const std::string& path, const std::string& file) {
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) return path;
  if (fs::equivalent(path, file, error)) return file;
  const std::string relative = fs::relative(path, error).string();
  return error || relative.empty() || relative.starts_with("..") ? path : relative;
}

/// A row of the table of results.
struct Row {
  std::string name, shape, verdict, detail;
};

std::string detail_of(const CaseReport& report) {
  if (report.outcome == FileOutcome::skipped) return report.reason;
  if (!report.passed()) {
    const int64_t errors = errors_in(report.findings);
    return errors > 0 ? count_text(errors, "finding") : report.reason;
  }
  if (report.call_s == 0) return "";
  std::string text = fmt::format("max error {:.1e}  {}", report.largest_error, time_text(report.call_s));
  if (report.math != "fp32") text += fmt::format("  {}", report.math);
  if (report.computes_in_prolog) {
    text += fmt::format(" (prolog to epilog {}: it computes in its prolog)", time_text(report.layer_s()));
  }
  return text;
}

using TextCounts = std::vector<std::pair<std::string, int64_t>>;

/// Increments the count of the text, and appends the text if it is new.
void count(TextCounts& counts, std::string_view text) {
  const auto known = std::ranges::find(counts, text, &TextCounts::value_type::first);
  if (known != counts.end()) {
    ++known->second;
  } else {
    counts.emplace_back(text, 1);
  }
}

/// Returns "padding is not supported (71), strides are not supported (12)", the most frequent reason first.
std::string reasons_text(const std::vector<const CaseReport*>& cases) {
  TextCounts reasons;
  for (const CaseReport* each : cases) count(reasons, each->reason);
  std::ranges::stable_sort(reasons, std::ranges::greater(), [](const auto& reason) { return reason.second; });
  std::vector<std::string> texts;
  for (const auto& [reason, count] : reasons) {
    texts.push_back(reasons.size() == 1 ? reason : fmt::format("{} ({})", reason, count));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Returns one row for each verdict.
std::vector<Row> grouped_rows(const std::vector<const CaseReport*>& cases, const std::string& what) {
  std::vector<Row> rows;
  for (const FileOutcome outcome :
       {FileOutcome::failed, FileOutcome::timed_out, FileOutcome::passed, FileOutcome::skipped}) {
    std::vector<const CaseReport*> group;
    std::ranges::copy_if(cases, std::back_inserter(group),
                         [&](const CaseReport* each) { return each->outcome == outcome; });
    if (group.empty()) continue;
    std::string detail;
    if (outcome == FileOutcome::skipped) {
      detail = reasons_text(group);
    } else if (outcome != FileOutcome::passed) {
      const auto flops = [](const CaseReport* each) { return each->asked.problem.flops(); };
      detail = "smallest: " + shape_text((*std::ranges::min_element(group, {}, flops))->asked.problem);
    }
    rows.push_back({count_text(std::ssize(group), what), "", std::string(name_of(outcome)), detail});
  }
  return rows;
}

constexpr size_t kFewCases = 8;  // up to this number, each case has a row

std::vector<Row> rows_of(const FileReport& report, bool verbose) {
  std::vector<Row> rows;
  std::vector<const CaseReport*> extra, many;
  const auto deciding = static_cast<size_t>(std::ranges::count_if(report.cases, &CaseReport::counts));
  int layer = 0;
  for (const CaseReport& each : report.cases) {
    if (each.asked.purpose == FileCase::Purpose::unzeroed) continue;  // a note reports it
    if (!each.counts() && !verbose) {
      extra.push_back(&each);
      continue;
    }
    if (deciding > kFewCases && !verbose) {
      many.push_back(&each);
      continue;
    }
    const std::string name = !each.counts()                 ? "extra"
                             : report.has_semester_layers() ? fmt::format("conv{}", ++layer)
                                                            : "";
    const std::string shape = verbose ? to_text(each.asked.problem) : shape_text(each.asked.problem);
    rows.push_back({name, shape, std::string(name_of(each.outcome)), detail_of(each)});
  }
  std::ranges::move(grouped_rows(many, "shape"), std::back_inserter(rows));
  std::ranges::move(grouped_rows(extra, "extra shape"), std::back_inserter(rows));
  return rows;
}

std::string table_of(const std::vector<Row>& rows, size_t width) {
  size_t name = 0, shape = 0;
  for (const Row& row : rows) {
    if (row.shape.empty()) continue;
    name = std::max(name, row.name.size());
    shape = std::max(shape, row.shape.size());
  }
  const size_t gap = name > 0 ? 2 : 0;
  size_t left = name + gap + shape;
  for (const Row& row : rows) {
    if (row.shape.empty()) left = std::max(left, row.name.size());
  }
  std::string text;
  for (const Row& row : rows) {
    const std::string what = row.shape.empty() ? row.name : fmt::format("{:<{}}{}", row.name, name + gap, row.shape);
    const std::string begin = fmt::format("  {:<{}}  {:<9} ", what, left, row.verdict);
    const std::vector<std::string> details =
        wrapped(row.detail, std::max<size_t>(width, begin.size() + 20) - begin.size());
    for (size_t i = 0; i < details.size(); ++i) {
      const std::string line = (i == 0 ? begin : std::string(begin.size(), ' ')) + details[i];
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
  }
  return text;
}

/// Returns the first lines that the file printed.
std::string printed_text(const std::string& printed, size_t most) {
  if (printed.empty()) return "";
  const std::vector<std::string> lines = split(printed, '\n');
  std::string text = fmt::format("  the file printed {}:\n", count_text(std::ssize(lines), "line"));
  for (size_t i = 0; i < std::min(lines.size(), most); ++i) text += fmt::format("    {}\n", printable(lines[i]));
  if (lines.size() > most) text += fmt::format("    ... and {} more (-v shows them)\n", lines.size() - most);
  return text;
}

std::string notes_text(const std::vector<std::string>& notes, const ReportStyle& style) {
  std::string text;
  for (const std::string& note : notes) {
    const std::vector<std::string> lines =
        wrapped("note: " + note, static_cast<size_t>(std::max(style.text.width, 40)) - 2);
    for (size_t i = 0; i < lines.size(); ++i) text += fmt::format("  {}{}\n", i == 0 ? "" : "      ", lines[i]);
  }
  return text;
}

/// Returns the smallest case that failed, to be rerun alone.
const CaseReport* smallest_failure(const FileReport& report) {
  const CaseReport* smallest = nullptr;
  for (const CaseReport& each : report.cases) {
    const bool failed = each.outcome == FileOutcome::failed || each.outcome == FileOutcome::timed_out;
    if (!failed) continue;
    if (smallest == nullptr || each.asked.problem.flops() < smallest->asked.problem.flops()) smallest = &each;
  }
  return smallest;
}

std::string next_command(const FileReport& report) {
  if (report.passed() && errors_in(report.findings) == 0) {
    if (report.device == "simt") return fmt::format("convlab profile {} --device simt --counters", report.file);
    return fmt::format("convlab bench {} --device {}", report.file, report.device);
  }
  const CaseReport* const failure = smallest_failure(report);
  if (failure == nullptr) return "";
  return fmt::format("convlab verify {} --device {} --problem {}", report.file, report.device,
                     to_text(failure->asked.problem));
}

/// A variable without a value may explain wrong outputs without another explanation.
void explain_by_warnings(std::vector<Finding>& findings) {
  const auto warning = std::ranges::find_if(
      findings, [](const Finding& each) { return each.kind == kCompilerWarning && !each.help.empty(); });
  if (warning == findings.end()) return;
  for (Finding& each : findings) {
    if (each.kind != kWrongOutput || !each.help.empty()) continue;
    each.help = fmt::format("possibly '{}' has no initial value: see the warning below", warning->labels[0].subject);
  }
}

/// Drops races whose write is out of bounds in another shape: there it happens to hit an array.
void drop_overrun_races(std::vector<Finding>& findings) {
  std::vector<SourcePlace> overruns;
  for (const Finding& each : findings) {
    if (each.kind == kOutOfBounds && each.labels[0].writes_it) overruns.push_back(place_of(each));
  }
  std::erase_if(findings, [&](const Finding& each) {
    return each.kind == kGlobalRace && std::ranges::any_of(each.labels, [&](const Label& label) {
             return label.writes_it && std::ranges::count(overruns, label.place) > 0;
           });
  });
}

}  // namespace

int64_t errors_in(const std::vector<Finding>& findings) {
  return std::ranges::count(findings, Severity::error, &Finding::severity);
}

std::vector<Finding> findings_of(const FileReport& report) {
  std::vector<Finding> all;
  for (const CaseReport& each : report.cases) {
    if (each.asked.purpose == FileCase::Purpose::unzeroed) continue;
    std::ranges::move(merged(each.findings), std::back_inserter(all));
  }
  for (Finding& each : all) each.count = 1;  // counts cases from here on
  all = merged(std::move(all));
  for (Finding& each : all) {
    if (each.count > 1) each.notes.insert(each.notes.begin(), fmt::format("in {} shapes", each.count));
  }
  std::ranges::move(merged(report.causes), std::back_inserter(all));
  std::ranges::stable_sort(all, {}, &Finding::severity);
  // If there are errors, leave out warnings, except the compiler's, which may explain the errors.
  if (errors_in(all) > 0) {
    std::erase_if(
        all, [](const Finding& each) { return each.severity != Severity::error && each.kind != kCompilerWarning; });
  }
  explain_by_warnings(all);
  drop_overrun_races(all);
  SourceLines lines;
  for (Finding& each : all) {
    if (place_of(each).file.empty()) each.labels.insert(each.labels.begin(), {.place = {.file = report.file}});
    lines.locate(each);
    for (Label& label : each.labels) label.place.file = shown_path(label.place.file, report.file);
    each.count = 1;
  }
  return all;
}

void print_report(Output& output, const FileReport& report, const ReportStyle& style) {
  std::string text = style.many_files ? report.file + "\n" : "";
  if (!report.device.empty()) {
    const std::string how = report.compile_s > 0 ? fmt::format("in {}", time_text(report.compile_s)) : "before";
    const std::string as = report.has_semester_layers() ? fmt::format(", layers of {}", report.semester) : "";
    text += fmt::format("  compiled {} ({}{})\n", how, report.device, as);
  }
  text += table_of(rows_of(report, style.verbose), static_cast<size_t>(style.text.width));
  text += notes_text(report.notes, style);
  text += printed_text(report.printed, style.verbose ? 20 : 3);
  const std::vector<Finding>& findings = report.findings;
  if (report.cases.empty() && findings.empty()) text += fmt::format("{}: error: {}\n", report.file, report.reason);
  SourceLines lines;
  auto used = std::ranges::count(text, '\n') + 1;  // including the verdict
  size_t shown = 0;
  for (const Finding& each : findings) {
    const std::string form = text_form(each, lines, style.text);
    const auto more = std::ranges::count(form, '\n') + 1;
    const bool has_room = used + more + (shown + 1 < findings.size() ? 1 : 0) <= kMostLines;
    if (shown > 0 && !has_room && !style.all && !style.verbose) break;
    text += "\n" + form;
    used += more;
    ++shown;
  }
  if (shown < findings.size()) {
    text += fmt::format("{}; --all shows them\n",
                        count_text(static_cast<int64_t>(findings.size() - shown), "more finding"));
  }
  output.print("{}{}", text, findings.empty() ? "" : "\n");
}

std::string verdict_line(const std::vector<FileReport>& reports) {
  TextCounts counts;
  int64_t findings = 0;
  std::string next;
  for (const FileReport& each : reports) {
    count(counts, each.not_verified ? "not verified" : name_of(each.outcome));
    findings += errors_in(each.findings);
    if (next.empty() && (reports.size() == 1 || !each.passed())) next = next_command(each);
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) {
    parts.push_back(reports.size() == 1 ? name : fmt::format("{} {}", count, name));
  }
  return fmt::format("{}: {}{}{}\n", count_text(std::ssize(reports), "file"), fmt::join(parts, ", "),
                     findings > 0 ? fmt::format(" ({})", count_text(findings, "finding")) : "",
                     next.empty() ? "" : ". Try: " + next);
}

Json to_json(const FileReport& report) {
  const auto fault_json = [](const Finding& each) {
    Json related = Json::array();
    for (size_t i = 1; i < each.labels.size(); ++i) {
      const Label& label = each.labels[i];
      related.push_back(
          {{"file", label.place.file}, {"line", label.place.line}, {"thread", label.thread}, {"text", label.text}});
    }
    return Json{{"kind", each.kind},
                {"kernel", each.kernel},
                {"block", each.block},
                {"thread", each.labels.empty() ? "" : each.labels[0].thread},
                {"line", short_text(place_of(each))},
                {"array", each.array},
                {"text", in_one_line(each)},
                {"related", std::move(related)},
                {"help", each.help}};
  };
  Json cases = Json::array();
  for (const CaseReport& each : report.cases) {
    Json faults = Json::array();
    for (const Finding* fault : each.faults()) faults.push_back(fault_json(*fault));
    Json json{{"problem", to_text(each.asked.problem)},
              {"verdict", name_of(each.outcome)},
              {"reason", each.reason},
              {"faults", std::move(faults)},
              {"counts", each.counts()}};
    if (each.passed()) {
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
  Json findings = Json::array();
  std::vector<std::string> notes = report.notes;
  for (const Finding& each : report.findings) {
    findings.push_back(convlab::to_json(each));
    if (each.severity == Severity::warning) notes.push_back("warning: " + in_one_line(each));
  }
  return {{"file", report.file},
          {"kind", report.kind},
          {"semester", report.semester},
          {"verdict", name_of(report.outcome)},
          {"reason", report.reason},
          {"notes", std::move(notes)},
          {"printed", report.printed},
          {"cases", std::move(cases)},
          {"findings", std::move(findings)}};
}

}  // namespace convlab::app
