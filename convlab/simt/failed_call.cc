// What a program's failed calls and refused launches leave for whoever judges its results.

#include "convlab/simt/failed_call.h"

#include <fmt/format.h>

#include <mutex>
#include <utility>

namespace convlab::simt {
namespace {

struct State {
  std::mutex mutex;
  std::optional<FailedCall> first;
  std::function<void(const FailedCall&)> listener;
};

int weight(const FailedCall& failed) { return failed.harmless ? 0 : failed.breaks_memory() ? 2 : 1; }

State& state() {
  static State& one = *new State;  // never destroyed: static objects may still call at exit
  return one;
}

}  // namespace

std::string to_text(const FailedCall& failed) {
  if (failed.code == 0) return fmt::format("{} {}, at {}", failed.call, failed.why, failed.where);
  const std::string what = failed.call.empty() ? failed.kernel + " was not launched" : failed.call + " failed";
  return fmt::format("{}: {} ({}), at {}", what, failed.why, failed.error, failed.where);
}

void keep_failed_call(FailedCall failed) {
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
