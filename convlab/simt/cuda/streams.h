#pragma once

#include "convlab/simt/cuda/cuda_errors.h"

/// Streams and events. Work is done at submission, so streams are only names and events are timestamps.
namespace convlab::simt::cuda {

struct StreamTag;
using cudaStream_t = StreamTag*;
struct EventTag;
using cudaEvent_t = EventTag*;

inline constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;

namespace runtime {

/// Sets the stream of the work that follows. Because work is done at submission, only a Recorder (call_recorder.h) and
/// the check for missing waits (in_flight.h) need it.
void on_stream(cudaStream_t stream) noexcept;
cudaError_t wait_for_event(cudaStream_t stream, cudaEvent_t event) noexcept;

/// Waits for all work.
cudaError_t synchronize() noexcept;

/// Tells a Recorder that the host waits; it does not distinguish streams.
void record_wait() noexcept;

/// Records that the host has waited for a stream or an event, or has queried that its work is done.
cudaError_t waited_for(cudaStream_t stream) noexcept;
cudaError_t waited_for(cudaEvent_t event) noexcept;

}  // namespace runtime

cudaError_t cudaStreamCreate(cudaStream_t* stream) noexcept;
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return cudaStreamCreate(stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) noexcept;
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  runtime::record_wait();
  return runtime::waited_for(stream);
}
inline cudaError_t cudaStreamQuery(cudaStream_t stream) { return runtime::waited_for(stream); }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0) {
  return runtime::wait_for_event(stream, event);
}
cudaError_t cudaEventCreate(cudaEvent_t* event) noexcept;
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) noexcept;
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) noexcept;
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  runtime::record_wait();
  return runtime::waited_for(event);
}
inline cudaError_t cudaEventQuery(cudaEvent_t event) { return runtime::waited_for(event); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) noexcept;

inline cudaError_t cudaDeviceSynchronize() { return runtime::synchronize(); }
inline cudaError_t cudaThreadSynchronize() { return runtime::synchronize(); }

}  // namespace convlab::simt::cuda
