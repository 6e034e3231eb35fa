// Tracks device work that the host has not waited for.

#include "convlab/simt/in_flight.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "convlab/simt/ranges.h"

namespace convlab::simt::internal {
namespace {

constexpr size_t kMostWork = 4096;  // if a program never waits, the oldest work counts as done

struct State {
  std::mutex mutex;
  Stream stream = nullptr;
  uint64_t last = 0;
  std::vector<InFlight> work;
};

State& state() {
  static State& one = *new State;  // never destroyed: static objects may still run host code at exit
  return one;
}

void add(InFlight work) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  work.number = ++s.last;
  // Work on the default stream precedes all later work on other streams.
  if (s.stream != nullptr) work.stream = s.stream;
  const auto again = std::ranges::find_if(s.work, [&](const InFlight& each) {
    return each.base == work.base && each.bytes == work.bytes && each.stream == work.stream && each.what == work.what &&
           each.place == work.place;
  });
  if (again != s.work.end()) {
    again->number = work.number;
    return;
  }
  if (s.work.size() == kMostWork) s.work.erase(s.work.begin());
  s.work.push_back(std::move(work));
  memory_version.fetch_add(1, std::memory_order_release);
}

template <class Predicate>
void finish(const Predicate& is_done) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (std::erase_if(s.work, is_done) > 0) memory_version.fetch_add(1, std::memory_order_release);
}

}  // namespace

void give_to_stream(Stream stream) {
  std::lock_guard lock(state().mutex);
  state().stream = stream;
}

void begin_copy(const void* host, size_t bytes, bool device_writes, std::string what, SourcePlace place) {
  add({.base = reinterpret_cast<uintptr_t>(host),
       .bytes = bytes,
       .device_writes = device_writes,
       .what = std::move(what),
       .place = std::move(place)});
}

void begin_kernel(const KernelCall& call, const std::string& what, const SourcePlace& place) {
  const auto ranges = current_ranges();
  for_each_word(call, [&](size_t, uintptr_t value) {
    const Range* const range = range_at(*ranges, value);
    const bool is_hosts = range && !range->initialized;
    if (is_hosts)
      add({.base = range->base, .bytes = range->bytes, .device_writes = true, .what = what, .place = place});
  });
}

uint64_t last_work() {
  std::lock_guard lock(state().mutex);
  return state().last;
}

void wait_for_stream(Stream stream, uint64_t last) {
  finish([&](const InFlight& work) {
    return work.number <= last && (stream == nullptr || !work.stream || *work.stream == stream);
  });
}

void wait_for_all() { wait_for_stream(nullptr); }

void join_streams(Stream stream) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  for (InFlight& work : s.work) {
    if (work.stream == stream) work.stream.reset();
  }
}

std::vector<InFlight> in_flight() {
  std::lock_guard lock(state().mutex);
  return state().work;
}

}  // namespace convlab::simt::internal
