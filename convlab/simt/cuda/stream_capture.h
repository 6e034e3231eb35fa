#pragma once

#include "convlab/simt/cuda/cuda_errors.h"
#include "convlab/simt/cuda/graph_types.h"
#include "convlab/simt/cuda/stream_handles.h"

/// Stream capture: while a stream is captured, work submitted to it becomes nodes of a graph. Events order captured
/// streams, and an event of a captured stream takes a stream that waits for it into the capture. A call that is not
/// allowed during a capture returns its error and invalidates the capture.
namespace convlab::simt::cuda {

namespace runtime {

/// Does the work, or adds it to the graph that the stream is captured into.
cudaError_t submit(cudaStream_t stream, cudaGraphNodeType type, StreamWork work);

bool is_capturing(cudaStream_t stream) noexcept;
bool is_captured(cudaEvent_t event) noexcept;

/// Adds a kernel with a copy of its arguments to the graph, which launches it by `launch`.
cudaError_t capture_kernel(cudaStream_t stream, const KernelCall& call, const LaunchShape& shape,
                           LaunchFunction launch);
/// Keeps the event for streams that wait for it, and returns true if the stream is captured.
bool capture_record(cudaEvent_t event, cudaStream_t stream) noexcept;
cudaError_t capture_wait(cudaStream_t stream, cudaEvent_t event) noexcept;

/// The host waits for a captured stream: returns cudaErrorStreamCaptureUnsupported.
cudaError_t invalidate_capture(cudaStream_t stream) noexcept;
/// Returns the error of work in the default stream, which would wait for captured streams; cudaSuccess if it may run.
cudaError_t implicit_use_error(cudaStream_t stream) noexcept;
/// Returns the error of waiting for the device during a capture.
cudaError_t synchronize_error() noexcept;

}  // namespace runtime

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) noexcept;
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) noexcept;
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) noexcept;
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id = nullptr) noexcept;
/// Sets this thread's mode and returns the old one in its place. The mode has no effect here: all calls that a capture
/// does not allow are refused in every thread.
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) noexcept;

}  // namespace convlab::simt::cuda
