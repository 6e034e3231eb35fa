// Keeps and prints the findings of a whole program.

#include "convlab/simt/program/program_report.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "convlab/base/file.h"
#include "convlab/base/signal_text.h"
#include "convlab/base/text.h"
#include "convlab/diagnostics/text_form.h"
#include "convlab/diagnostics/text_style.h"
#include "convlab/diagnostics/tool_forms.h"
#include "convlab/simt/checks.h"
#include "convlab/simt/counting.h"
#include "convlab/simt/cuda/device_models.h"
#include "convlab/simt/cuda/runtime.h"
#include "convlab/simt/failed_call.h"
#include "convlab/simt/fault.h"
#include "convlab/simt/host_faults.h"
#include "convlab/simt/launch_log.h"
#include "convlab/simt/program/program_settings.h"
#include "convlab/simt/settings.h"
#include "convlab/warps/kernel_counts_json.h"
#include "convlab/warps/kernel_lessons.h"

namespace convlab::simt {
namespace {

using Json = nlohmann::ordered_json;

struct Program {
  ProgramSettings settings;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::mutex mutex;  ///< guards the members below
  std::vector<Finding> findings;
  std::vector<PastLaunches> launches;
  std::vector<KernelCounts> counts;
  bool reported = false;
};

Program& program() {
  static Program& one = *new Program;  // never destroyed: it is used until the process ends
  return one;
}

void keep(Finding finding) {
  constexpr size_t kMost = 200;
  Program& all = program();
  std::lock_guard lock(all.mutex);
  const auto known = std::ranges::find_if(all.findings, [&](const Finding& each) {
    return each.severity == finding.severity && same_cause(each, finding);
  });
  if (known != all.findings.end()) {
    known->count += finding.count;
  } else if (all.findings.size() < kMost) {
    all.findings.push_back(std::move(finding));
  }
}

/// Returns the error of the calls after a kernel that a GPU ends for this fault.
cuda::cudaError_t error_after(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds_global:
    case FaultKind::out_of_bounds_shared:
    case FaultKind::out_of_bounds_local:
    case FaultKind::host_memory:
      return cuda::cudaErrorIllegalAddress;
    case FaultKind::misaligned:
      return cuda::cudaErrorMisalignedAddress;
    case FaultKind::assertion:
      return cuda::cudaErrorAssert;
    case FaultKind::nested_launch:
      return cuda::cudaErrorNotSupported;
    case FaultKind::processor:
      return cuda::cudaErrorIllegalInstruction;
    default:
      return cuda::cudaErrorLaunchFailure;
  }
}

void keep_faults(std::vector<Fault> faults) {
  for (Fault& fault : faults) {
    fault.finding.count = fault.times;
    if (!lets_kernel_go_on(fault.kind) && !fault.kernel.empty()) cuda::runtime::break_device(error_after(fault.kind));
    keep(std::move(fault.finding));
  }
}

void keep_call(const FailedCall& call) {
  if (!checks().has(Check::api)) return;
  Finding finding = finding_of(call);
  if (finding.kind == kFailedCall) finding.severity = Severity::warning;  // the program may handle the error
  keep(std::move(finding));
}

void keep_launches() {
  std::vector<PastLaunches> more = take_launches();
  Program& all = program();
  std::lock_guard lock(all.mutex);
  std::ranges::move(more, std::back_inserter(all.launches));
}

/// Takes what simt has kept until now.
void gather() {
  keep_faults(take_host_faults());
  for (Fault& note : take_notes()) keep(std::move(note.finding));
  if (const std::string leaks = take_runtime_leaks(); !leaks.empty() && checks().has(Check::leaks)) {
    keep({.severity = Severity::warning,
          .kind = "memory leak",
          .text = fmt::format("device memory is never freed: {}", leaks),
          .help = "call cudaFree for each cudaMalloc"});
  }
  keep_launches();
  if (program().settings.counters) program().counts = stop_counting();
}

int64_t count_of(const std::vector<Finding>& findings, Severity severity) {
  return std::ranges::count(findings, severity, &Finding::severity);
}

/// "3 kernel launches checked".
std::string launches_text(const Program& all) {
  int64_t count = 0;
  for (const PastLaunches& each : all.launches) count += each.count;
  const char* const how = all.settings.counters            ? "counted, not checked"
                          : all.settings.checks.is_empty() ? "ran unchecked"
                                                           : "checked";
  return fmt::format("{} kernel launch{} {}", count, count == 1 ? "" : "es", how);
}

std::string summary(const Program& all) {
  const int64_t errors = count_of(all.findings, Severity::error), warnings = count_of(all.findings, Severity::warning);
  const std::string launches = launches_text(all);
  if (errors + warnings == 0) return fmt::format("convlab: no errors found; {}", launches);
  const auto number = [](int64_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
  if (warnings == 0) return fmt::format("convlab: {} found; {}", number(errors, "error"), launches);
  if (errors == 0) return fmt::format("convlab: no errors, {} found; {}", number(warnings, "warning"), launches);
  return fmt::format("convlab: {} and {} found; {}", number(errors, "error"), number(warnings, "warning"), launches);
}

Json results(const Program& all, int status) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  Json findings = Json::array(), kernels = Json::array(), counts = Json::array();
  for (const Finding& each : all.findings) findings.push_back(to_json(each));
  for (const PastLaunches& each : all.launches) {
    const auto extent = [](const cuda::dim3& e) { return Json{e.x, e.y, e.z}; };
    kernels.push_back({{"kernel", each.kernel},
                       {"place", to_text(each.place)},
                       {"grid", extent(each.grid)},
                       {"block", extent(each.block)},
                       {"launches", each.count}});
  }
  for (const KernelCounts& each : all.counts) counts.push_back(to_json(each));
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - all.begin;
  return {{"exit_status", status},       {"findings", std::move(findings)}, {"kernels", std::move(kernels)},
          {"counts", std::move(counts)}, {"wall_s", wall.count()},          {"max_rss_kb", usage.ru_maxrss}};
}

/// Shortens the paths of files below the current folder, as the user names them.
void shorten_paths(Finding& finding) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string() + "/";
  for (Label& label : finding.labels) {
    if (!error && label.place.file.starts_with(here)) label.place.file.erase(0, here.size());
  }
}

/// Prints the findings in the format that is asked for.
void print(const Program& all, int status) {
  constexpr size_t kMostTexts = 10;
  SourceLines lines;
  std::vector<Finding> findings = all.findings;
  for (Finding& each : findings) {
    shorten_paths(each);
    lines.locate(each);
  }
  TextStyle style = text_style(stderr, all.settings.color);
  style.details = all.settings.all;
  std::string text;
  switch (all.settings.format) {
    case FindingsFormat::text: {
      const size_t shown = all.settings.all ? findings.size() : std::min(findings.size(), kMostTexts);
      for (size_t i = 0; i < shown; ++i) text += text_form(findings[i], lines, style) + "\n";
      if (shown < findings.size()) text += fmt::format("and {} more; --all shows them\n", findings.size() - shown);
      if (!all.counts.empty()) text += std::string(counts_legend());
      for (const KernelCounts& each : all.counts) text += "\n" + to_text(each);
      text += summary(all) + "\n";
      break;
    }
    case FindingsFormat::gcc:
      for (const Finding& each : findings) text += gcc_form(each) + "\n";
      break;
    case FindingsFormat::github:
      for (const Finding& each : findings) text += github_form(each) + "\n";
      break;
    case FindingsFormat::sarif:
      text = sarif_form(findings, CONVLAB_VERSION) + "\n";
      break;
    case FindingsFormat::json:
      text = results(all, status).dump(2) + "\n";
      break;
  }
  std::fflush(stdout);
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

/// Reports once, and returns the exit status of the process.
int report(int status) noexcept {
  try {
    gather();
    Program& all = program();
    std::lock_guard lock(all.mutex);
    if (std::exchange(all.reported, true)) return status;
    std::ranges::stable_sort(all.findings, {}, &Finding::severity);
    if (status == 0 && count_of(all.findings, Severity::error) > 0) status = all.settings.findings_exit;
    print(all, status);
    if (!all.settings.json.empty()) write_file(all.settings.json, results(all, status).dump(2) + "\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "convlab: cannot report: %s\n", error.what());
  }
  return status;
}

void on_exit_of_program(int status, void*) {
  const int reported = report(status);
  if (reported != status) {
    std::fflush(nullptr);
    _exit(reported);
  }
}

/// A signal that ends the program: reports, and ends it by the same signal.
void on_signal(int signal) {
  std::signal(signal, SIG_DFL);
  keep({.kind = "abnormal end", .text = fmt::format("host code ended with {}", signal_text(signal))});
  report(128 + signal);
  std::raise(signal);
}

void watch_time(double seconds) {
  if (seconds <= 0) return;
  std::thread([seconds] {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    keep({.kind = "timeout", .text = fmt::format("the program did not end within {:g} s", seconds)});
    _exit(report(0));
  }).detach();
}

}  // namespace

void report_at_exit() try {
  Program& all = program();
  all.settings = program_settings();
  set_workers(all.settings.threads);
  set_checks(all.settings.checks);
  set_schedule(all.settings.schedule);
  limit_device_memory(all.settings.max_memory);
  if (all.settings.counters) start_counting();
  set_strictness(Strictness::usual);
  set_fault_receiver(&keep_faults);
  set_failed_call_receiver(&keep_call);
  on_exit(&on_exit_of_program, nullptr);
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, &on_signal);
  watch_time(all.settings.timeout_s);
} catch (const std::exception& error) {
  std::fprintf(stderr, "convlab: %s\n", error.what());
  _exit(2);
}

}  // namespace convlab::simt
