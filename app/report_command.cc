// convlab report: writes the course's report with its evidence as one HTML page, on the user's kernel files or on
// convlab's kernels.

#include "convlab/report/report.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "app/command.h"
#include "app/option_parsers.h"
#include "app/report_runs.h"
#include "app/results/progress_line.h"
#include "app/results/results_json.h"
#include "app/semester_option.h"
#include "app/usage.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/resources.h"
#include "convlab/base/text.h"
#include "convlab/device/devices.h"
#include "convlab/kernel_file/source.h"

namespace convlab::app {
namespace {

struct ReportOptions {
  std::string path, semester, data, baseline;
  std::vector<std::string> from, kernels;
};

Usage usage_of(const SavedRun& run) {
  return {.user_s = run.user_s.value_or(0),
          .system_s = run.system_s.value_or(0),
          .elapsed_s = run.total_s,
          .max_rss_kb = run.max_rss_kb};
}

/// Returns the folder of measurements that comes with the program, if it is there.
std::optional<std::filesystem::path> own_results() {
  try {
    return find_resource("results");
  } catch (const Error&) {
    return std::nullopt;
  }
}

Evidence read_evidence(const std::vector<std::string>& from) {
  Evidence evidence;
  for (const std::string& file : from) add_evidence(evidence, std::filesystem::path(file));
  if (from.empty()) {
    if (const std::optional<std::filesystem::path> results = own_results()) {
      add_evidence(evidence, *results);
    } else {
      note("no results folder and no --from: the report has only this CPU's results and a list of what is missing");
    }
  }
  for (SavedRun& run : evidence.runs) {
    if (run.user_s && run.system_s) run.time = usage_text(usage_of(run));
  }
  return evidence;
}

/// Returns --semester, otherwise that of the first file that states its semester.
std::string semester_of(const ReportOptions& options) {
  if (!options.semester.empty()) return options.semester;
  for (const std::string& file : options.kernels) {
    const KernelSource source = read_kernel_source(file);
    if (!source.semester.empty() && !source.semester_is_guess) return source.semester;
  }
  return "fa19";
}

bool is_makeable(const Deliverable& deliverable) { return !deliverable.there && !deliverable.commands.empty(); }

/// Returns the command that makes the same report with the evidence of this one and more: "convlab report -o
/// report.html --from results *.json".
std::string command_with_new_files(const ReportOptions& options) {
  std::string text = "convlab report -o " + shell_word(options.path);
  const auto add = [&](const char* name, const std::vector<std::string>& values) {
    if (!values.empty()) text += std::string(" ") + name;
    for (const std::string& each : values) text += " " + shell_word(each);
  };
  const auto add_one = [&](const char* name, const std::string& value) {
    if (!value.empty()) add(name, {value});
  };
  add("--kernel", options.kernels);
  add_one("--baseline", options.baseline);
  add_one("--semester", options.semester);
  add_one("--data", options.data);
  std::vector<std::string> from = options.from;
  const std::optional<std::filesystem::path> results = own_results();
  if (from.empty() && results) from = {results->string()};
  add("--from", from);
  return text + (from.empty() ? " --from *.json" : " *.json");
}

void report(const ReportOptions& options, Output& output) {
  require_writable("-o", options.path);
  if (options.kernels.empty() && !options.baseline.empty()) {
    throw bad_input("--baseline {} needs --kernel", options.baseline);
  }
  ReportInput input{.semester = semester_of(options), .evidence = {}};
  for (const std::string& file : options.kernels) input.own.push_back(own_kernel(file, options.baseline));
  input.evidence = read_evidence(options.from);
  input.build = this_build();
  input.machine = this_machine(open_device("cpu", {})->caps());
  input.when = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  {
    constexpr int64_t kScripts = 4, kLargest = kCourseSizes[2];
    Progress progress("running the CPU measurements", kScripts + 1);
    input.answers = answer(input.semester == "fa17" ? "fa17-high" : input.semester, options.data);
    progress.advance(1);
    add_run_of("m1.1", kLargest, options.data, input);
    progress.advance(1);
    for (const int64_t images : kCourseSizes) {
      add_run_of("m2.1", images, options.data, input);
      progress.advance(1);
    }
  }
  run_what_is_wanted(options.data, input);
  const Report page = make_report(input);
  write_file(options.path, page.html);

  output.print("{}: {} kB; Records: {}, runs: {}, profiles: {}\n", options.path, page.html.size() / 1000,
               input.evidence.records.size(), input.evidence.runs.size(), input.evidence.profiles.size());
  for (const Deliverable& each : page.deliverables) {
    if (each.there) {
      output.print("present  {}\n", each.what);
    } else {
      output.print("missing  {}\n", each.what);
      for (const std::string& command : each.commands) output.print("         to create it: {}\n", command);
    }
  }
  if (std::ranges::any_of(page.deliverables, is_makeable)) {
    output.print("Then add the files that these commands write: {}\n", command_with_new_files(options));
  }
  write_json(output, options.path, input, page);
}

}  // namespace

Action declare_report(CLI::App& parser) {
  auto options = std::make_shared<ReportOptions>();
  require(add_text(parser, "-o,--output", options->path, "FILE", "HTML page to write"));
  add_semester(parser, options->semester, "semester of the network (default: that of the kernel file, or fa19)");
  add_texts(parser, "--kernel", options->kernels, 1, kAnyNumber, "FILE ...",
            "kernel files to report on, in order; measured here if possible, without a GPU on simt with few images "
            "(default: report on convlab's own kernels)");
  add_text(parser, "--baseline", options->baseline, "K",
           "kernel or kernel file to compare each with (default: cuda.basic, or cpu.direct for CPU files)");
  add_texts(
      parser, "--from", options->from, 1, kAnyNumber, "RESULTS.json ...",
      "--json files of bench, run, profile, verify FILE and the course's scripts, or folders of them (default: the "
      "repository's results)");
  add_text(parser, "--data", options->data, "DIR", "folder of the idx files, as for 'convlab run'");
  return [options](Output& output) { report(*options, output); };
}

}  // namespace convlab::app
