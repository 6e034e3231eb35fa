#pragma once

/// Handles of streams and events.
namespace convlab::simt::cuda {

struct CUstream_st;
using cudaStream_t = CUstream_st*;
struct CUevent_st;
using cudaEvent_t = CUevent_st*;

/// Both mean the default stream here.
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))

inline constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
                          cudaEventInterprocess = 4;
inline constexpr unsigned cudaEventRecordDefault = 0, cudaEventRecordExternal = 1, cudaEventWaitDefault = 0,
                          cudaEventWaitExternal = 1;

namespace runtime {

/// Returns nullptr for the handles of the default stream, and other handles as they are.
cudaStream_t named(cudaStream_t stream) noexcept;

/// Sets the stream of the work that follows. Because work is done at submission, only a Recorder (call_recorder.h) and
/// the check for missing waits (in_flight.h) need it.
void on_stream(cudaStream_t stream) noexcept;

}  // namespace runtime
}  // namespace convlab::simt::cuda
