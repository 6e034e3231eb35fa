// Sets the stream of the work that follows.

#include "convlab/simt/cuda/stream_handles.h"

#include <cstdint>

#include "convlab/simt/call_recorder.h"
#include "convlab/simt/in_flight.h"

namespace convlab::simt::cuda::runtime {

cudaStream_t named(cudaStream_t stream) noexcept { return reinterpret_cast<uintptr_t>(stream) <= 2 ? nullptr : stream; }

void on_stream(cudaStream_t stream) noexcept {
  if (Recorder* const records = recorder()) records->on_stream(named(stream));
  simt::internal::give_to_stream(named(stream));
}

}  // namespace convlab::simt::cuda::runtime
