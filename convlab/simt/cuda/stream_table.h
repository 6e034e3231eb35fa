#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

#include "convlab/simt/cuda/stream_handles.h"

/// The streams and events of a program.
namespace convlab::simt::cuda::runtime {

inline constexpr int kLeastPriority = 0, kGreatestPriority = -5;

struct RecordedEvent {
  std::chrono::steady_clock::time_point at;
  cudaStream_t stream = nullptr;
  uint64_t work = 0;  // see in_flight.h
  unsigned flags = cudaEventDefault;
  bool recorded = false;
};

struct StreamInfo {
  unsigned flags = cudaStreamDefault;
  int priority = kLeastPriority;
};

struct StreamTable {
  std::mutex mutex;
  std::map<cudaEvent_t, RecordedEvent> events;
  std::map<cudaStream_t, StreamInfo> streams;
  uintptr_t next_handle = 0x1000;  // above cudaStreamPerThread
};

StreamTable& stream_table();

/// Returns whether the stream waits for work in the default stream.
bool is_blocking(cudaStream_t stream) noexcept;

}  // namespace convlab::simt::cuda::runtime
