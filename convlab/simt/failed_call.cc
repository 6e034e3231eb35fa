// Keeps the first failed call or rejected launch of a program for the code that judges its results.

#include "convlab/simt/failed_call.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "convlab/base/text.h"

namespace convlab::simt {
namespace {

struct State {
  std::mutex mutex;
  std::optional<FailedCall> first;
  std::function<void(const FailedCall&)> listener;
};

std::atomic<void (*)(const FailedCall&)> receiver{nullptr};

int weight(const FailedCall& failed) { return failed.harmless ? 0 : failed.breaks_memory() ? 2 : 1; }

State& state() {
  static State& one = *new State;  // never destroyed: static objects may still call at exit
  return one;
}

}  // namespace

Finding finding_of(const FailedCall& failed) {
  Finding finding{.severity = failed.harmless ? Severity::warning : Severity::error,
                  .kernel = failed.kernel,
                  .array = failed.array,
                  .help = failed.help};
  if (failed.code == 0) {
    finding.kind = failed.harmless ? kHarmlessCall : kBrokenHostArray;
    finding.text = fmt::format("{} {}", failed.call, failed.why);
    finding.labels = {{.place = failed.place, .subject = failed.call}};
    return finding;
  }
  const bool is_launch = failed.call.empty();
  const size_t colon = failed.error.find(": ");
  const std::string name = failed.error.substr(0, colon);
  if (colon != std::string::npos)
    finding.notes.push_back(fmt::format("CUDA's error: {}", failed.error.substr(colon + 2)));
  finding.kind = is_launch ? kRefusedLaunch : kFailedCall;
  finding.text = is_launch ? fmt::format("kernel '{}' was not launched: {}", failed.kernel, name)
                           : fmt::format("{} failed: {}", failed.call, name);
  finding.labels = {{.place = failed.place,
                     .text = failed.why,
                     .subject = is_launch ? std::string(text_before(failed.kernel, '<')) : failed.call}};
  finding.labels.insert(finding.labels.end(), failed.related.begin(), failed.related.end());
  return finding;
}

void set_failed_call_receiver(void (*receive)(const FailedCall&)) { receiver = receive; }

void keep_failed_call(FailedCall failed) {
  if (const auto receive = receiver.load()) return receive(failed);
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (s.first && weight(failed) <= weight(*s.first)) return;
  s.first = std::move(failed);
  if (s.listener && !s.first->harmless) s.listener(*s.first);
}

std::optional<FailedCall> take_failed_call() {
  std::lock_guard lock(state().mutex);
  return std::exchange(state().first, std::nullopt);
}

void on_failed_call(std::function<void(const FailedCall&)> listener) {
  std::lock_guard lock(state().mutex);
  state().listener = std::move(listener);
}

}  // namespace convlab::simt
