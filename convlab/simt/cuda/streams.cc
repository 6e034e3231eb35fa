// Keeps the streams and events of a program.

#include "convlab/simt/cuda/streams.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_set>

#include "convlab/simt/call_recorder.h"
#include "convlab/simt/in_flight.h"

namespace convlab::simt::cuda {
namespace {

struct RecordedEvent {
  std::chrono::steady_clock::time_point at;
  cudaStream_t stream = nullptr;
  uint64_t work = 0;  // see in_flight.h
};

struct State {
  std::mutex mutex;
  std::map<EventTag*, RecordedEvent> events;
  std::unordered_set<StreamTag*> streams;
  uintptr_t next_handle = 1;
};

State& state() {
  static State& one = *new State;  // never destroyed: a file's static objects may still use streams at exit
  return one;
}

}  // namespace

namespace runtime {

void on_stream(cudaStream_t stream) noexcept {
  if (Recorder* const records = recorder()) records->on_stream(stream);
  simt::internal::give_to_stream(stream);
}

cudaError_t wait_for_event(cudaStream_t stream, cudaEvent_t event) noexcept {
  if (Recorder* const records = recorder()) records->wait_for_event(stream, event);
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (const auto at = s.events.find(event); at != s.events.end()) simt::internal::join_streams(at->second.stream);
  return cudaSuccess;
}

void record_wait() noexcept {
  if (Recorder* const records = recorder()) records->synchronize();
}

cudaError_t synchronize() noexcept {
  record_wait();
  simt::internal::wait_for_all();
  return device_error();
}

cudaError_t waited_for(cudaStream_t stream) noexcept {
  simt::internal::wait_for_stream(stream);
  return device_error();
}

cudaError_t waited_for(cudaEvent_t event) noexcept {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (const auto at = s.events.find(event); at != s.events.end()) {
    simt::internal::wait_for_stream(at->second.stream, at->second.work);
  }
  return cudaSuccess;
}

}  // namespace runtime

cudaError_t cudaStreamCreate(cudaStream_t* stream) noexcept {
  std::lock_guard lock(state().mutex);
  *stream = reinterpret_cast<StreamTag*>(state().next_handle++);
  state().streams.insert(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) noexcept {
  State& s = state();
  std::lock_guard lock(s.mutex);
  return s.streams.erase(stream) > 0 ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) noexcept {
  std::lock_guard lock(state().mutex);
  *event = reinterpret_cast<EventTag*>(state().next_handle++);
  state().events[*event] = {};
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) noexcept {
  State& s = state();
  std::lock_guard lock(s.mutex);
  return s.events.erase(event) > 0 ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) noexcept {
  if (Recorder* const records = recorder()) records->record_event(event, stream);
  State& s = state();
  std::lock_guard lock(s.mutex);
  const auto at = s.events.find(event);
  if (at == s.events.end()) return cudaErrorInvalidResourceHandle;
  at->second = {std::chrono::steady_clock::now(), stream, simt::internal::last_work()};
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) noexcept {
  State& s = state();
  std::lock_guard lock(s.mutex);
  const auto first = s.events.find(begin), last = s.events.find(end);
  if (first == s.events.end() || last == s.events.end()) return cudaErrorInvalidResourceHandle;
  *milliseconds = std::chrono::duration<float, std::milli>(last->second.at - first->second.at).count();
  return cudaSuccess;
}

}  // namespace convlab::simt::cuda
