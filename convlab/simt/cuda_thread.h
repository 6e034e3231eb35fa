#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convlab/simt/kernel_call.h"
#include "convlab/simt/operations.h"
#include "convlab/simt/shadow.h"
#include "convlab/simt/vector_types.h"
#include "convlab/simt/where.h"

namespace convlab::simt::internal {

enum class ThreadState : uint8_t { ready, paused, yielded, at_barrier, at_warp_operation, done, faulted };

/// One lane's request for a warp operation, without its value.
struct WarpRequest {
  WarpOperation operation{};
  LaneMask mask = 0;
  int lane = 0;
  int width = kWarpSize;
  CollectiveWork run = nullptr;
  void* payload = nullptr;
};

/// An asynchronous copy that its thread has not waited for: see async_copy.h.
struct PendingCopy {
  void* to = nullptr;
  const void* from = nullptr;
  size_t bytes = 0, zeros = 0;
  size_t group = 0;          ///< index of the thread's copy group
  Shadow* shadow = nullptr;  ///< shadow memory of the destination; nullptr if the launch is counted
  size_t offset = 0;         ///< of the destination in the region
};

/// An asynchronous copy that a phase of a barrier awaits: it lands when the thread that observes the end of the phase
/// lands it.
struct AwaitedCopy {
  PendingCopy copy;
  uintptr_t barrier = 0;
  unsigned phase = 0;
  AccessRecord start;  ///< of the thread that started it
};

/// One CUDA thread, and what it waits for.
struct CudaThread {
  boost::context::detail::fcontext_t context = nullptr;
  int stack = -1;
  ThreadState state = ThreadState::ready;
  cuda::uint3 index{};
  Where where{};
  BarrierOperation barrier{};
  WarpRequest request{};
  uint64_t value = 0;      ///< operand before a barrier or warp operation, result after it
  bool fenced = false;     ///< executed a fence since its last release
  uintptr_t spins_on = 0;  ///< address of its last atomic operation, if that left the memory unchanged
  bool waits = false;      ///< yielded: for shared memory that only a thread of the block can change
  std::vector<PendingCopy> copies;
  size_t copy_groups = 0;  ///< committed so far
};

struct Warp {
  LaneMask all = 0;  ///< lanes that exist
  LaneMask ready = 0;
  LaneMask paused = 0;   ///< until their traces are counted
  LaneMask yielded = 0;  ///< until the other warps have run
  LaneMask waiting = 0;  ///< at a warp operation
  LaneMask done = 0;
  WarpClock clock;
};

}  // namespace convlab::simt::internal
