// convlab judge-file: the child process of `convlab verify FILE` for one file and some cases. It reports to its parent
// before and after each case, as JSON.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/guests/file_cases.h"
#include "app/guests/file_trial.h"
#include "app/guests/guest.h"
#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/json.h"
#include "convlab/device/devices.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/kernel_file/file_kernel.h"
#include "convlab/kernel_file/library.h"
#include "convlab/kernels/registry.h"
#include "convlab/verify/cases.h"
#include "convlab/verify/file_judge.h"

namespace convlab::app {
namespace {

struct JudgeOptions {
  std::string file, library, device;
  std::vector<std::string> cases;
  int64_t threads = 0;
  double stuck_after_seconds = 0;
  bool strict = false, all = false;
};

constexpr size_t kFewFindings = 3;  // after this many different findings, the remaining shapes are skipped

/// Reports to the parent each second in which kernels on simt, or convlab's own computation, made progress.
class Heartbeat {
 public:
  Heartbeat() : thread_([this](const std::stop_token& stop) { beat(stop); }) {}

 private:
  void beat(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    int64_t before = progress();
    while (!over_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; }) && !stop.stop_requested()) {
      if (const int64_t now = progress(); now != std::exchange(before, now)) tell_host(R"({"alive":true})");
    }
  }
  static int64_t progress() { return simt_blocks_begun() + oracle_progress(); }

  std::mutex mutex_;
  std::condition_variable_any over_;
  std::jthread thread_;
};

/// The library of the file that this process judges.
std::string judged_library;

/// Reports where this process hangs: kernels end at their next instruction, and the main thread reports its own source
/// line. This signal handler interrupts the file's code; if it fails because of that, the parent soon kills this
/// process.
void say_last_words(int signal) {
  if (::gettid() != ::getpid()) {  // the file's code runs on the main thread
    ::tgkill(::getpid(), ::getpid(), signal);
    return;
  }
  end_simt_launches();
  const std::string place = simt_place_in(judged_library);
  if (!place.empty()) tell_host(json_text(Json{{"at", place}}, -1));
}

Json to_json(const std::vector<Finding>& findings) {
  Json json = Json::array();
  for (const Finding& each : findings) json.push_back(convlab::to_json(each));
  return json;
}

Json to_json(const FileVerdict& verdict) {
  return {{"verdict", name_of(verdict.outcome)},
          {"reason", verdict.reason},
          {"findings", to_json(verdict.findings)},
          {"math", name_of(verdict.math)},
          {"largest_error", verdict.largest_error},
          {"prolog_s", verdict.seconds.prolog},
          {"call_s", verdict.seconds.call},
          {"epilog_s", verdict.seconds.epilog},
          {"computes_in_prolog", verdict.seconds.early}};
}

/// For file kinds `own` and `function`: verifies the kernel on every step that steps_to_verify() derives from the
/// problem. Returns the first failure, otherwise a step that passed, otherwise why no step is supported.
FileVerdict verified(const Kernel& kernel, const ConvProblem& problem, Device& device, Oracle& oracle) {
  FileVerdict best{.outcome = Outcome::skipped, .reason = "no step of this problem is supported"};
  std::vector<Finding> warnings;  // of the first step that has any
  for (const ConvStep& step : steps_to_verify(kernel, problem, device.caps())) {
    const CaseResult result = verify_kernel(kernel, step, device, oracle);
    FileVerdict verdict{.outcome = result.outcome, .reason = result.reason, .findings = result.findings};
    if (verdict.outcome == Outcome::failed) return verdict;
    if (warnings.empty()) warnings = verdict.findings;
    if (verdict.outcome == Outcome::passed || best.outcome != Outcome::passed) best = verdict;
  }
  best.findings = std::move(warnings);
  return best;
}

/// Whether this process can still use the device: a kernel that accesses an invalid address makes the GPU unusable for
/// it.
bool works(Device& device) {
  try {
    device.make_stream()->synchronize();
    return true;
  } catch (const Error&) {
    return false;
  }
}

void judge(const JudgeOptions& options) {
  const KernelSource source = read_kernel_source(options.file);
  set_simt_stuck_after(options.stuck_after_seconds);
  const std::unique_ptr<Device> device = open_device(options.device, {.threads = static_cast<int>(options.threads)});
  device->make_current();
  Oracle oracle(static_cast<int>(options.threads));
  judged_library = options.library;
  simt_place_in(judged_library);  // loads what the signal handler needs
  const Heartbeat heartbeat;
  ::signal(kLastWords, say_last_words);
  // Report it at once: a file that checks for errors may end the process.
  on_simt_failed_call([](const Finding& call) {
    tell_host(json_text(Json{{"failed_call", convlab::to_json(call)}}, -1));
  });
  tell_host(R"({"ready":true})");

  std::function<FileVerdict(const FileCase&)> ask;
  std::optional<FileJudge> course;
  if (source.kind == FileKind::own || source.kind == FileKind::function) {
    const DeviceKind kind = device->caps().kind;
    load_kernel_file(source, options.library, options.file, kind);
    const Kernel& kernel = require_conv_kernel(options.file, kind);
    set_simt_strictness(options.strict ? SimtStrictness::strict : SimtStrictness::usual);
    ask = [&](const FileCase& each) { return verified(kernel, each.problem, *device, oracle); };
  } else {
    set_simt_strictness(options.strict ? SimtStrictness::strict : SimtStrictness::lenient);
    const LoadedFile file(options.library);
    if (file.entry() == nullptr) throw bad_input("{}: the compiled file has no entry points", options.file);
    course.emplace(*file.entry(), source, *device, oracle);
    ask = [&](const FileCase& each) { return course->judge(each.problem, each.before()); };
  }
  constexpr double kPatience = 20;  // seconds; after that, cases that do not decide the verdict are skipped
  const Clock::time_point begin = Clock::now();
  bool wrong = false;
  std::vector<Finding> found;
  const auto skip_from = [](size_t from, const std::string& why) {
    tell_host(json_text(Json{{"enough_from", from}, {"why", why}}, -1));
  };
  for (size_t i = 0; i < options.cases.size(); ++i) {
    const FileCase each = parse_case(options.cases[i]);
    const bool decides = each.purpose == FileCase::Purpose::verdict;
    if (!decides && wrong) return;
    if (!decides && seconds_since(begin) > kPatience) return skip_from(i, "not run: the file takes long");
    tell_host(fmt::format(R"({{"begin":{}}})", i));
    FileVerdict verdict = ask(each);
    wrong |= decides && verdict.outcome == Outcome::failed;
    Json json = to_json(verdict);
    json["case"] = i;
    json["large_blocks"] = take_simt_large_blocks();
    tell_host(json_text(json, -1));
    if (std::ranges::count(verdict.findings, kNoProgress, &Finding::kind) > 0) {
      return skip_from(i + 1, std::string(kHungBefore));
    }
    std::ranges::move(verdict.findings, std::back_inserter(found));
    std::erase_if(found, [](const Finding& each) { return each.severity != Severity::error; });
    found = merged(std::move(found));
    if (!options.all && found.size() >= kFewFindings) {
      return skip_from(i + 1, fmt::format("not run after {} different findings", found.size()));
    }
    if (!works(*device)) return tell_host(R"({"lost":true})");
  }
}

}  // namespace

Action declare_judge_file(CLI::App& options) {
  auto chosen = std::make_shared<JudgeOptions>();
  add_text(options, "--file", chosen->file, "FILE", "");
  add_text(options, "--library", chosen->library, "FILE", "");
  add_text(options, "--device", chosen->device, "D", "");
  add_int(options, "--threads", chosen->threads, 0, 1024, "");
  add_real(options, "--stuck-after", chosen->stuck_after_seconds, 0.1, 86400, "");
  add_flag(options, "--strict", chosen->strict, "");
  add_flag(options, "--all", chosen->all, "");
  add_texts(options, "CASES", chosen->cases, 1, kAnyNumber, "", "");
  return [chosen](Output&) {
    become_guest();
    try {
      judge(*chosen);
    } catch (const Error& error) {
      tell_host(json_text(Json{{"error", error.what()}, {"kind", static_cast<int>(error.kind())}}, -1));
    }
    std::fflush(nullptr);  // the parent does not wait for later output
    tell_host("done");
  };
}

}  // namespace convlab::app
