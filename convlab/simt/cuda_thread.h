#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convlab/simt/kernel_call.h"
#include "convlab/simt/operations.h"
#include "convlab/simt/shadow.h"
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

/// One CUDA thread, and what it waits for. What most threads use comes first: it fits a cache line.
struct alignas(64) CudaThread {
  boost::context::detail::fcontext_t context = nullptr;
  uint64_t value = 0;      ///< operand before a barrier or warp operation, result after it
  uintptr_t spins_on = 0;  ///< address of its last atomic operation, if that left the memory unchanged
  std::vector<PendingCopy> copies;
  size_t copy_groups = 0;  ///< committed so far
  int stack = -1;
  ThreadState state = ThreadState::ready;
  BarrierOperation barrier{};
  bool fenced = false;  ///< executed a fence since its last release
  bool waits = false;   ///< yielded: for shared memory that only a thread of the block can change
  Where where{};
  WarpRequest request{};

  /// Makes it a thread of a new block, on this stack.
  void begin(int on_stack) {
    spins_on = 0;
    copies.clear();
    copy_groups = 0;
    stack = on_stack;
    state = ThreadState::ready;
    fenced = waits = false;
  }
};

struct Warp {
  LaneMask all = 0;  ///< lanes that exist
  LaneMask ready = 0;
  LaneMask paused = 0;   ///< until their traces are counted
  LaneMask yielded = 0;  ///< until the other warps have run
  LaneMask waiting = 0;  ///< at a warp operation
  LaneMask done = 0;
  LaneMask begun = 0;  ///< other lanes' threads are still those of an earlier block
  WarpClock clock;
};

}  // namespace convlab::simt::internal
