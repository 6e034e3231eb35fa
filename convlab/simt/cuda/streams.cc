// Keeps the streams and events of a program.

#include "convlab/simt/cuda/streams.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

#include "convlab/simt/call_recorder.h"
#include "convlab/simt/cuda/stream_capture.h"
#include "convlab/simt/cuda/stream_table.h"
#include "convlab/simt/in_flight.h"

namespace convlab::simt::cuda {
namespace {

using runtime::named;
using runtime::StreamInfo;

bool is_default(cudaStream_t stream) { return named(stream) == nullptr; }

/// Tells a Recorder that the host waits; it does not distinguish streams.
void record_wait() {
  if (Recorder* const records = recorder()) records->synchronize();
}

cudaError_t waited_for(cudaStream_t stream) {
  if (runtime::is_capturing(stream)) return runtime::set_last_error(runtime::invalidate_capture(stream));
  if (const cudaError_t error = runtime::implicit_use_error(stream); error != cudaSuccess) {
    return runtime::set_last_error(error);
  }
  simt::internal::wait_for_stream(named(stream));
  return runtime::device_error();
}

cudaError_t waited_for(cudaEvent_t event) {
  if (runtime::is_captured(event)) return runtime::set_last_error(cudaErrorCapturedEvent);
  runtime::StreamTable& s = runtime::stream_table();
  std::lock_guard lock(s.mutex);
  const auto at = s.events.find(event);
  if (at == s.events.end()) return runtime::set_last_error(cudaErrorInvalidResourceHandle);
  simt::internal::wait_for_stream(at->second.stream, at->second.work);
  return runtime::device_error();
}

/// Calls use(info) for a stream that exists; the default stream has default flags.
template <class Use>
cudaError_t with_stream(cudaStream_t stream, const Use& use) {
  runtime::StreamTable& s = runtime::stream_table();
  std::lock_guard lock(s.mutex);
  if (is_default(stream)) {
    use(StreamInfo{});
    return cudaSuccess;
  }
  const auto at = s.streams.find(stream);
  if (at == s.streams.end()) return runtime::set_last_error(cudaErrorInvalidResourceHandle);
  use(at->second);
  return cudaSuccess;
}

}  // namespace

namespace runtime {

cudaError_t synchronize() noexcept {
  if (const cudaError_t error = synchronize_error(); error != cudaSuccess) return set_last_error(error);
  record_wait();
  simt::internal::wait_for_all();
  return device_error();
}

}  // namespace runtime

cudaError_t cudaStreamCreate(cudaStream_t* stream) noexcept {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, runtime::kLeastPriority);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) noexcept {
  return cudaStreamCreateWithPriority(stream, flags, runtime::kLeastPriority);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) noexcept {
  if (stream == nullptr || flags > cudaStreamNonBlocking) return runtime::set_last_error(cudaErrorInvalidValue);
  std::lock_guard lock(runtime::stream_table().mutex);
  *stream = reinterpret_cast<cudaStream_t>(runtime::stream_table().next_handle++);
  runtime::stream_table().streams[*stream] = {
      flags, std::clamp(priority, runtime::kGreatestPriority, runtime::kLeastPriority)};
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) noexcept {
  runtime::StreamTable& s = runtime::stream_table();
  std::lock_guard lock(s.mutex);
  return s.streams.erase(stream) > 0 ? cudaSuccess : runtime::set_last_error(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) noexcept {
  record_wait();
  return waited_for(stream);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) noexcept { return waited_for(stream); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) noexcept {
  if (runtime::is_captured(event)) return runtime::capture_wait(stream, event);
  if (Recorder* const records = recorder()) records->wait_for_event(named(stream), event);
  runtime::StreamTable& s = runtime::stream_table();
  std::lock_guard lock(s.mutex);
  if (const auto at = s.events.find(event); at != s.events.end()) simt::internal::join_streams(at->second.stream);
  return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) noexcept {
  return with_stream(stream, [&](const StreamInfo& info) { *flags = info.flags; });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) noexcept {
  return with_stream(stream, [&](const StreamInfo& info) { *priority = info.priority; });
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) noexcept {
  return with_stream(stream, [&](const StreamInfo&) { *id = reinterpret_cast<uintptr_t>(stream); });
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) noexcept {
  return with_stream(stream, [&](const StreamInfo&) { *device = 0; });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) noexcept {
  if (least != nullptr) *least = runtime::kLeastPriority;
  if (greatest != nullptr) *greatest = runtime::kGreatestPriority;
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) noexcept { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) noexcept {
  const bool shared = (flags & cudaEventInterprocess) != 0, timed = (flags & cudaEventDisableTiming) == 0;
  if (event == nullptr || flags > 7 || (shared && timed)) return runtime::set_last_error(cudaErrorInvalidValue);
  std::lock_guard lock(runtime::stream_table().mutex);
  *event = reinterpret_cast<cudaEvent_t>(runtime::stream_table().next_handle++);
  runtime::stream_table().events[*event] = {.at = {}, .flags = flags};
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) noexcept {
  runtime::StreamTable& s = runtime::stream_table();
  std::lock_guard lock(s.mutex);
  return s.events.erase(event) > 0 ? cudaSuccess : runtime::set_last_error(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) noexcept {
  if (runtime::capture_record(event, stream)) return cudaSuccess;
  if (Recorder* const records = recorder()) records->record_event(event, named(stream));
  runtime::StreamTable& s = runtime::stream_table();
  std::lock_guard lock(s.mutex);
  const auto at = s.events.find(event);
  if (at == s.events.end()) return runtime::set_last_error(cudaErrorInvalidResourceHandle);
  at->second = {std::chrono::steady_clock::now(), named(stream), simt::internal::last_work(), at->second.flags, true};
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) noexcept {
  record_wait();
  return waited_for(event);
}
cudaError_t cudaEventQuery(cudaEvent_t event) noexcept { return waited_for(event); }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) noexcept {
  runtime::StreamTable& s = runtime::stream_table();
  std::lock_guard lock(s.mutex);
  const auto first = s.events.find(begin), last = s.events.find(end);
  const auto has_time = [&](auto at) {
    return at != s.events.end() && at->second.recorded && (at->second.flags & cudaEventDisableTiming) == 0;
  };
  if (!has_time(first) || !has_time(last)) return runtime::set_last_error(cudaErrorInvalidResourceHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(last->second.at - first->second.at).count();
  return cudaSuccess;
}

}  // namespace convlab::simt::cuda
