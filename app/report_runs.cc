// Runs the measurements that a report needs: each is a separate command, whose JSON becomes evidence as if it came from
// a file.

#include "app/report_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/child.h"
#include "app/guests/guest_kernels.h"
#include "app/results/progress_line.h"
#include "app/usage.h"
#include "convlab/base/error.h"
#include "convlab/kernel_file/source.h"

namespace convlab::app {
namespace {

std::string command_of(const std::vector<std::string>& arguments) {
  return fmt::format("convlab {}", fmt::join(arguments, " "));
}

/// Sets the usage of a run's whole process, as the course measured it, to what this process observed.
void complete(SavedRun& run, const Usage& usage) {
  run.source.clear();
  run.user_s = usage.user_s;
  run.system_s = usage.system_s;
  run.total_s = usage.elapsed_s;
  run.max_rss_kb = usage.max_rss_kb;
  run.time = usage_text(usage);
}

/// `wrong_is_news`: a command that fails may have results, nevertheless.
void make_evidence(std::vector<std::string> arguments, bool wrong_is_news, ReportInput& input) {
  const std::string command = command_of(arguments);
  arguments.insert(arguments.begin(), "convlab");
  arguments.insert(arguments.end(), {"--json", "-"});
  const ChildRun child = run_child(std::move(arguments));
  if (child.status != 0 && (!wrong_is_news || child.output.empty())) {
    input.failed.push_back(
        fmt::format("{}: {}", command,
                    child.complaint.empty() ? fmt::format("failed with status {}", child.status) : child.complaint));
    return;
  }
  const size_t runs = input.evidence.runs.size();
  add_evidence(input.evidence, child.output, command);
  if (input.evidence.runs.size() > runs) complete(input.evidence.runs.back(), child.usage);
}

void add_data(const std::string& data, std::vector<std::string>& arguments) {
  if (!data.empty()) arguments.insert(arguments.end(), {"--data", data});
}

}  // namespace

void add_run_of(const std::string& script, int64_t images, const std::string& data, ReportInput& input) {
  const bool there = std::ranges::any_of(input.evidence.runs, [&](const SavedRun& run) {
    return run.script() == script && run.images == images && run.model.starts_with(input.semester);
  });
  if (there) return;
  std::vector<std::string> arguments{script, std::to_string(images), "--semester", input.semester};
  add_data(data, arguments);
  make_evidence(std::move(arguments), false, input);
}

OwnKernel own_kernel(const std::string& file, const std::string& baseline) {
  const KernelSource source = read_kernel_source(file);
  OwnKernel kernel{.name = file, .source = source.text, .device = device_for(source, ""), .baseline = baseline};
  if (baseline.empty()) kernel.baseline = source.cuda ? "cuda.basic" : "cpu.direct";
  if (names_kernel_file(kernel.baseline)) device_for(read_kernel_source(kernel.baseline), kernel.device);
  return kernel;
}

void run_what_is_wanted(const std::string& data, ReportInput& input) {
  for (const OwnKernel& kernel : input.own) {
    Progress progress(fmt::format("measuring {}", kernel.name), 1);
    std::vector<std::string> tried;
    // Ask again after each measurement, because what is needed for a kernel depends on its verdict.
    const auto next = [&]() -> std::optional<Want> {
      for (Want& want : wants_of(kernel, input)) {
        const bool new_here = std::ranges::find(tried, command_of(want.arguments)) == tried.end();
        if (want.here && !want.there && new_here) return std::move(want);
      }
      return std::nullopt;
    };
    while (std::optional<Want> want = next()) {
      tried.push_back(command_of(want->arguments));
      const bool verdict = want->kind == Want::Kind::verdict, times = want->kind == Want::Kind::times;
      const bool images = !verdict && !times && want->kind != Want::Kind::prediction;
      if (images) add_data(data, want->arguments);
      make_evidence(std::move(want->arguments), verdict, input);
    }
    progress.advance(1);
  }
}

}  // namespace convlab::app
