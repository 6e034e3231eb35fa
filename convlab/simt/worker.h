#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "convlab/simt/atomic_order.h"
#include "convlab/simt/code_counts.h"
#include "convlab/simt/global_shadow.h"
#include "convlab/simt/redundant.h"
#include "convlab/simt/running_block.h"
#include "convlab/simt/shadow.h"
#include "convlab/simt/site.h"
#include "convlab/simt/thread_clocks.h"
#include "convlab/simt/tile_phases.h"
#include "convlab/simt/where.h"

namespace convlab::simt::internal {

struct SharedRegion {
  uintptr_t base = 0;
  size_t span = 0;                ///< addresses that belong to the region
  size_t bytes = 0;               ///< how many of them may be accessed
  const uint8_t* used = nullptr;  ///< per word; nullptr: all
  Cell* words = nullptr;          ///< shadow->words(), cached
  std::unique_ptr<Shadow> shadow;

  void make_shadow(size_t bytes) {
    shadow = std::make_unique<Shadow>(Shadow::Of::shared, bytes);
    words = shadow->words();
  }
};

/// A store that is a race if it changes any of these parts, and a redundant write if it changes none.
struct HeldStore {
  RawFault fault;
  uint32_t warp = 0;
  LaneMask lanes = 0;
  std::vector<HeldPart> parts;
};

/// What hooks read at each access of the running thread. It comes first in a Worker, where addresses are shortest.
struct HookState {
  Accessor accessor{};
  GlobalAccessor global_accessor{};
  PagedShadow block_shadow;     ///< of global memory
  LaneTrace* trace = nullptr;   ///< of the running thread; nullptr if the launch is not counted
  bool attention = false;       ///< the next access must be traced, or held stores must be checked
  ControlFlow* flow = nullptr;  ///< the control-flow graph that traces extend
  SharedRegion static_shared, dynamic_shared;
  bool is_shared(uintptr_t address) const {
    return address - static_shared.base < static_shared.span || address - dynamic_shared.base < dynamic_shared.span;
  }
  uintptr_t stack_base = 0;
  static constexpr size_t kStackBytes = 64 * 1024;
  static constexpr size_t kStackReserve = 4 * 1024;  ///< a stack with fewer bytes left has overflowed
  /// An access this far past the end of dynamic shared memory still counts as an out-of-bounds access to it.
  static constexpr size_t kDynamicGuard = 64 * 1024;
  static constexpr size_t kSites = 512;
  SiteEntry read_sites[kSites], write_sites[kSites];

  void forget_sites() {
    std::fill(std::begin(read_sites), std::end(read_sites), SiteEntry{});
    std::fill(std::begin(write_sites), std::end(write_sites), SiteEntry{});
  }
};

/// What hooks and intrinsics see of the OS thread that runs a CUDA thread: its block, and the checks of its accesses.
class Worker : public HookState, public RunningBlock {
 public:
  /// `dynamic_memory`: kMaxSharedBytes of zeroed memory, and kDynamicGuard bytes that must not be accessed.
  explicit Worker(void* dynamic_memory);

  // ---- Called by the scheduler. ----

  void begin_launch(Grid& of_launch);
  void begin_block(int64_t of_grid);
  /// Makes the thread, a lane of this warp, the running one.
  void begin_thread(CudaThread& thread, Warp& warp, int lane, uintptr_t stack) {
    thread_run.number = number_of(thread);
    accessor.set(epoch_, lane, static_cast<int>(&warp - warps.data()), warp.clock);
    stack_base = stack;
    if (counting_) trace = &counting_->trace(number_of(thread));
    attention = trace != nullptr;
  }
  /// All threads of the block have reached a barrier.
  void pass_barrier();
  /// Reports the candidates of this barrier interval, when no thread can run.
  void report_candidates();
  void end_launch();

  // ---- Called on a fiber, by hooks and intrinsics. ----

  void check_access(uintptr_t address, size_t bytes, AccessKind kind, const void* code, Where where = {},
                    const AtomicOrder& order = {});

  /// Checks an access to memory in `entry` against accesses by other blocks, and records it.
  void check_order(const SiteEntry& entry, uintptr_t address, size_t bytes, AccessKind kind, const Site& site);

  /// Checks an access against accesses by other threads of the block, and records it.
  void check_order_in_block(uintptr_t address, size_t bytes, AccessKind kind, const Site& site);

  /// Checks the running thread's held stores, which have completed: see redundant.h.
  void settle_stores();
  /// A volatile access counts as atomic.
  void fence_block() {
    current().fenced = true;
    clocks.fence(current_number());
  }
  void fence() {
    fence_block();
    global_accessor.fence();
  }

  /// Lets the other threads of the block run.
  void yield();

  /// Lets them run because the running thread waits until another one changes `address`. `again`: it was here before,
  /// and has done nothing since.
  void wait_for_change(uintptr_t address, bool again, Where where);
  /// The same, for something that only a thread of the block can change, or else any thread.
  void wait_for_thread(bool of_block, bool again, Where where);
  bool has_moved = false;  ///< a thread has done something else than to wait, since all threads waited

  /// The running thread's atomic operation at this address, which has just run, has left the memory unchanged. If its
  /// last one did, too, it waits for another thread. Counted threads do not yield, as Lockstep expects.
  void spin(uintptr_t address) {
    if (std::exchange(current().spins_on, address) == address && trace == nullptr) yield();
  }

  /// What the thread did so far happens before what a thread of the block does that acquires the object from `clocks`.
  void release(uintptr_t object);
  ThreadClocks clocks;
  TilePhases tiles;
  std::vector<AwaitedCopy> awaited_copies;
  /// Ends the thread, unless misaligned addresses are not reported.
  void fail_misaligned(uintptr_t address, size_t bytes, bool is_write, const void* code, Where where = {});
  void fail_if_stuck(const void* code, Where where) {
    if (progress.is_stuck()) fail_stuck(code, where);
  }
  void trace_access(EventKind kind, const void* code, uintptr_t address, size_t bytes) {
    if (address - stack_base >= kStackBytes) trace->access(kind, code, address, bytes);
  }
  void trace_block(const void* code) {
    if (trace->block(code, *flow)) pause();
  }
  Counting* counting() const { return counting_.get(); }  ///< nullptr if the launch is not counted

 private:
  void pause();
  [[noreturn]] void fail_stuck(const void* code, Where where);
  RawFault::Space space_of(uintptr_t& address) const;
  RawFault fault_at(RawFault::Space space, uintptr_t address, size_t bytes, AccessKind kind, const Site& site) const;

  // Happens-before edges inside a block other than barriers, and candidate races.
  AccessKind kind_in_block(AccessKind kind) const;
  void synchronize_in_block(uintptr_t address, AccessKind kind, const AtomicOrder& order);
  ShadowResult touch_in_block(Shadow& shadow, size_t offset, size_t bytes, uintptr_t address, AccessKind kind,
                              std::vector<HeldPart>& parts);
  void name_other_side(RawFault& fault, const AccessRecord& other, bool other_wrote) const;
  void report_race_in_block(RawFault fault, const ShadowResult& result, AccessKind kind);
  void hold_in_block(RawFault fault, std::vector<HeldPart> parts);
  void hold(HeldStore store);
  void add_candidate(int guesser, RawFault fault);
  void settle_candidates(int guesser, uintptr_t address);

  void check_shared(SharedRegion& region, RawFault::Space space, size_t offset, size_t bytes, AccessKind kind,
                    const Site& site);
  void check_global(uintptr_t address, size_t bytes, AccessKind kind, const Site& site, const AtomicOrder& order);

  uint32_t epoch_ = 0;
  static constexpr int kNobody = -1;
  struct CandidateInBlock {
    uintptr_t address;
    int guesser;  ///< the thread whose plain read is not a race if it continues with an atomic operation there, or
                  ///< kNobody
    RawFault fault;
  };
  /// Faults of this barrier interval that may turn out to be none, or a consequence of another one. A read of
  /// uninitialized memory is a consequence (guesser kNobody) if another thread writes the word before the next barrier:
  /// then the race is reported instead.
  std::vector<CandidateInBlock> candidates_;
  std::vector<HeldStore> held_stores_;
  RedundantWords redundant_words_;
  StoreUnderWay store_under_way_;
  SiteNumbers site_numbers_;
  std::unique_ptr<Counting> counting_;
};

/// The worker whose CUDA thread runs on this OS thread now; nullptr while host code runs, including simt's own.
extern constinit thread_local Worker* active_worker;

/// Marks simt's own work on a fiber. Functions that simt shares with a kernel's file (standard library templates) may
/// be the instrumented versions; inside this scope their accesses do not count as the kernel's.
class HostScope {
 public:
  HostScope() : worker_(active_worker) { active_worker = nullptr; }
  ~HostScope() { active_worker = worker_; }
  HostScope(const HostScope&) = delete;
  HostScope& operator=(const HostScope&) = delete;

 private:
  Worker* worker_;
};

}  // namespace convlab::simt::internal
