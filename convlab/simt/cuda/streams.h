#pragma once

#include "convlab/simt/cuda/cuda_errors.h"
#include "convlab/simt/cuda/stream_handles.h"

/// Streams and events. Work is done at submission, so streams are only names and events are timestamps.
namespace convlab::simt::cuda {

namespace runtime {

/// Waits for all work.
cudaError_t synchronize() noexcept;

}  // namespace runtime

cudaError_t cudaStreamCreate(cudaStream_t* stream) noexcept;
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) noexcept;
/// The priority is only kept: streams do not compete here.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) noexcept;
cudaError_t cudaStreamDestroy(cudaStream_t stream) noexcept;
cudaError_t cudaStreamSynchronize(cudaStream_t stream) noexcept;
cudaError_t cudaStreamQuery(cudaStream_t stream) noexcept;
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0) noexcept;
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) noexcept;
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) noexcept;
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) noexcept;
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) noexcept;
/// The range of a GPU: 0 to -5.
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) noexcept;

cudaError_t cudaEventCreate(cudaEvent_t* event) noexcept;
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) noexcept;
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) noexcept;
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) noexcept;
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned = 0) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) noexcept;
cudaError_t cudaEventQuery(cudaEvent_t event) noexcept;
/// Returns the time that simt took, not that of a GPU. Both events must be recorded and have timing.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) noexcept;

inline cudaError_t cudaDeviceSynchronize() { return runtime::synchronize(); }
inline cudaError_t cudaThreadSynchronize() { return runtime::synchronize(); }

}  // namespace convlab::simt::cuda
