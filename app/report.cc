// convlab report: the course's report with its evidence, one page. Runs here what saved files lack and a CPU can do,
// each script as its own process.

#include "convlab/report/report.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "app/child.h"
#include "app/command.h"
#include "app/options.h"
#include "app/results/progress.h"
#include "app/results/results_json.h"
#include "app/usage.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/resources.h"

namespace convlab::app {
namespace {

struct ReportOptions {
  std::string path, semester = "fa19", data;
  std::vector<std::string> from;
};

Usage usage_of(const SavedRun& run) {
  return {.user_s = run.user_s.value_or(0),
          .system_s = run.system_s.value_or(0),
          .elapsed_s = run.total_s,
          .max_rss_kb = run.max_rss_kb};
}

/// The folder of measurements that comes with the program.
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
      note("there is no folder results, and no --from: the page shows what this CPU does, and what is missing");
    }
  }
  for (SavedRun& run : evidence.runs) {
    if (run.user_s && run.system_s) run.time = usage_text(usage_of(run));
  }
  return evidence;
}

/// Runs a course script unless the evidence has its output.
void run_script(const ReportOptions& options, const std::string& script, int64_t images, ReportInput& input) {
  std::vector<SavedRun>& runs = input.evidence.runs;
  const bool there = std::ranges::any_of(runs, [&](const SavedRun& run) {
    return run.script() == script && run.images == images && run.model.starts_with(options.semester);
  });
  if (there) return;
  std::vector<std::string> arguments{"convlab", script, std::to_string(images), "--semester", options.semester};
  if (!options.data.empty()) arguments.insert(arguments.end(), {"--data", options.data});
  arguments.insert(arguments.end(), {"--json", "-"});
  const ChildRun child = run_child(std::move(arguments));
  if (child.status != 0) {
    input.failed.push_back(child.complaint.empty() ? fmt::format("{} ended with status {}", script, child.status)
                                                   : child.complaint);
    return;
  }
  SavedRun run = saved_run_from_text(child.output, script);
  run.source.clear();
  run.user_s = child.usage.user_s;
  run.system_s = child.usage.system_s;
  run.total_s = child.usage.elapsed_s;
  run.max_rss_kb = child.usage.max_rss_kb;
  run.time = usage_text(child.usage);
  runs.push_back(std::move(run));
}

void report(const ReportOptions& options, Output& output) {
  require_writable("-o", options.path);
  ReportInput input{.semester = options.semester, .evidence = read_evidence(options.from)};
  input.build = this_build();
  input.machine = this_machine(open_device("cpu", {})->caps());
  input.when = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  {
    constexpr int64_t kScripts = 4, kLargest = kCourseSizes[2];
    Progress progress("running what a CPU can do", kScripts + 1);
    input.answers = answer(options.semester == "fa17" ? "fa17-high" : options.semester, options.data);
    progress.advance(1);
    run_script(options, "m1.1", kLargest, input);
    progress.advance(1);
    for (const int64_t images : kCourseSizes) {
      run_script(options, "m2.1", images, input);
      progress.advance(1);
    }
  }
  const Report page = make_report(input);
  write_file(options.path, page.html);

  output.print("{}: {} kB, from {} Records, {} runs and {} profiles\n", options.path, page.html.size() / 1000,
               input.evidence.records.size(), input.evidence.runs.size(), input.evidence.profiles.size());
  for (const Deliverable& each : page.deliverables) {
    if (each.there) {
      output.print("there    {}\n", each.what);
    } else {
      output.print("missing  {}\n", each.what);
      for (const std::string& command : each.commands) output.print("         make it with: {}\n", command);
    }
  }
  write_json(output, options.path, input, page);
}

}  // namespace

Action declare_report(CLI::App& parser) {
  auto options = std::make_shared<ReportOptions>();
  require(add_text(parser, "-o,--output", options->path, "FILE", "the page to write"));
  add_choice(parser, "--semester", options->semester, {"fa17", "sp18", "fa18", "sp19", "fa19", "sp25"},
             "whose network (default fa19)");
  add_texts(parser, "--from", options->from, 1, kAnyNumber, "RESULTS.json ...",
            "what bench, run, profile and the course's scripts wrote with --json, or folders of such files "
            "(default: the repository's results)");
  add_text(parser, "--data", options->data, "DIR", "folder of the idx files, as for 'convlab run'");
  return [options](Output& output) { report(*options, output); };
}

}  // namespace convlab::app
