#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "convlab/simt/counting.h"
#include "convlab/simt/describe.h"
#include "convlab/simt/fault.h"
#include "convlab/simt/global_shadow.h"
#include "convlab/simt/heap_blocks.h"
#include "convlab/simt/launch.h"
#include "convlab/simt/memory.h"
#include "convlab/simt/printing.h"
#include "convlab/simt/redundant.h"
#include "convlab/simt/shadow.h"
#include "convlab/simt/signals.h"
#include "convlab/simt/symbols.h"
#include "convlab/simt/vector_types.h"
#include "convlab/simt/warp.h"
#include "convlab/simt/where.h"

/// Execution of a grid. Each worker (an OS thread) takes blocks in order and runs one at a time. Each CUDA thread of
/// the block is a fiber, which runs until it has to wait for others; then the next lane runs, and then the next warp.
/// The schedule inside a block is deterministic. The stack of a thread that faults is reused, not unwound.
namespace convlab::simt::internal {

/// A fault as a worker detects it. Names are resolved after the launch.
struct RawFault {
  enum class Space : uint8_t { none, static_shared, dynamic_shared, global };

  FaultKind kind{};
  int thread = 0;  ///< linear index in the block
  int other_thread = -1;
  const void* other_code = nullptr;  ///< race in a block: code address of the other access, if known
  bool other_wrote = false;          ///< race in a block: the other access is a write
  bool before_barriers = false;      ///< race in a block: the block has not passed any barrier yet
  bool unawaited_copy = false;       ///< the other access is an asynchronous copy that its thread has not waited for
  std::optional<OtherAccess> other_block;  ///< race between blocks
  Space space = Space::none;
  uintptr_t address = 0;  ///< global memory: the address; otherwise the offset in the region, which may be negative
  int access_bytes = 0;
  bool is_write = false;
  const void* code = nullptr;                       ///< return address of the access
  Where location{};                                 ///< of an intrinsic, if `code` is nullptr
  const struct SubscriptSite* subscript = nullptr;  ///< of an array index out of bounds
  int64_t index = 0;
  int waiting = 1;         ///< number of threads at a barrier that others do not reach
  Where other_location{};  ///< where the other thread waits instead, if it waits
  std::string detail;      ///< text that only the code that detects the fault can provide
  int writers = 0;         ///< redundant write in a block: number of threads that store the value
  bool by_warps = false;   ///< redundant write in a block: `writers` counts whole warps, by wmma
  int64_t times = 1;
};

/// A store that is a race if it changes any of these parts, and a redundant write if it changes none.
struct HeldStore {
  RawFault fault;
  uint32_t warp = 0;
  LaneMask lanes = 0;
  std::vector<HeldPart> parts;
};

/// What the compiler passes for an index out of bounds, in the layout of -fsanitize=bounds.
struct SubscriptSite {
  const char* file;
  uint32_t line, column;
  const struct ArrayType {
    uint16_t kind, info;
    char name[1];  // "'float [16][17]'", null-terminated
  } * array_type;
  const void* index_type;
};

/// One launch, shared by its workers.
struct Grid {
  KernelCall call;
  cuda::dim3 grid, block;
  int block_threads = 0;
  int64_t blocks = 0;
  size_t shared_bytes = 0;
  Where where;  ///< of the launch
  const Module* module = nullptr;
  const Symbol* kernel = nullptr;  ///< nullptr if the program has no symbols
  const SharedArrays* shared_arrays = nullptr;
  std::shared_ptr<const Ranges> ranges;
  GlobalRaces races;
  RedundantBlocks redundant;
  StoresUnderWay stores;
  Printed printed;
  bool counted = false;
  bool apart = false;  ///< kernels may not access host variables: see host_code.h

  std::atomic<int64_t> next_block{0};
  std::atomic<int64_t> first_fault_block{INT64_MAX};  ///< later blocks stop or never start
  std::atomic<int64_t> progress{0};                   ///< changes while threads make progress: see set_stuck_after
  std::mutex mutex;                                   ///< guards the members below
  std::vector<RawFault> faults;                       ///< of first_fault_block
  int64_t noting_block = -1;                          ///< the block whose warnings are kept; -1: none yet
  std::vector<RawFault> noted;                        ///< warnings of noting_block
  CodeCounts counts;
  std::exception_ptr error;

  Position block_position(int64_t linear) const;
  Position thread_position(int linear) const;
};

/// After a launch without faults: turns the candidate races of the first block that has any into faults.
void report_candidates(Grid& grid);

/// Calls use(argument, value) for each 8-byte word of each argument that may be a pointer. Arguments may be structs
/// that contain pointers.
template <class Use>
void for_each_word(const KernelCall& call, const Use& use) {
  for (size_t argument = 0; argument < call.places.size(); ++argument) {
    const ArgumentPlace& place = call.places[argument];
    for (size_t at = place.offset; at + sizeof(uintptr_t) <= place.offset + place.bytes; at += sizeof(uintptr_t)) {
      uintptr_t value;
      std::memcpy(&value, static_cast<const char*>(call.arguments) + at, sizeof(value));
      use(argument, value);
    }
  }
}

/// After a launch: makes its warnings available to take_notes().
void keep_notes(const Grid& grid);

/// See Strictness.
bool is_lenient();
bool is_strict();

enum class ThreadState : uint8_t { ready, paused, at_barrier, at_warp_operation, done, faulted };

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

/// One CUDA thread, and what it waits for.
struct CudaThread {
  boost::context::detail::fcontext_t context = nullptr;
  int stack = -1;
  ThreadState state = ThreadState::ready;
  cuda::uint3 index{};
  Where where{};
  BarrierOperation barrier{};
  WarpRequest request{};
  uint64_t value = 0;   ///< operand before a barrier or warp operation, result after it
  bool fenced = false;  ///< executed a fence since its last release
  size_t acquired = 0;  ///< number of the block's releases that happen before this thread's next access
  std::vector<PendingCopy> copies;
  size_t copy_groups = 0;  ///< committed so far
};

/// A release: a fence followed by an atomic operation of one thread in a barrier interval. What the thread did before
/// it happens before what other threads do after later atomic operations of their own. A volatile access counts as
/// atomic, as between blocks.
struct Release {
  int thread = 0;
  uint32_t stamp = 0;  ///< what the thread did at this stamp of its warp's clock, or an earlier one, is released
};

struct Warp {
  LaneMask all = 0;  ///< lanes that exist
  LaneMask ready = 0;
  LaneMask paused = 0;   ///< until their traces are counted
  LaneMask waiting = 0;  ///< at a warp operation
  LaneMask done = 0;
  WarpClock clock;
};

/// Cache entry of an instruction: the range that it accessed last, which it nearly always accesses next.
struct SiteEntry {
  uintptr_t base = 0;
  size_t bytes = 0;
  uint8_t* initialized = nullptr;  ///< see Range::initialized
  GlobalCell* cells = nullptr;     ///< see Range::cells

  GlobalCell& cell(uintptr_t address) const { return cells[address / 4 - base / 4]; }
};

// Several workers read and set entries of a range's map; the order does not matter.
inline bool is_initialised(const uint8_t* word) { return __atomic_load_n(word, __ATOMIC_RELAXED) != 0; }
inline void set_initialised(uint8_t* word) { __atomic_store_n(word, uint8_t{1}, __ATOMIC_RELAXED); }

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

/// One OS thread's part in a launch. Workers are reused by later launches: their stacks and shadow memory are large.
class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Takes and runs blocks on the calling thread until none is left.
  void run(Grid& grid);

  // ---- Called on a fiber, by hooks and intrinsics. ----

  void check_access(uintptr_t address, size_t bytes, AccessKind kind, const void* code, Where where = {});

  /// Checks an access to memory in `entry` against accesses by other blocks, and records it.
  void check_order(const SiteEntry& entry, uintptr_t address, size_t bytes, AccessKind kind, const Site& site);

  /// Checks an access against accesses by other threads of the block, and records it.
  void check_order_in_block(uintptr_t address, size_t bytes, AccessKind kind, const Site& site);

  /// Checks the running thread's held stores, which have completed: see redundant.h.
  void settle_stores();
  void fence_block() { current_->fenced = true; }
  void fence() {
    fence_block();
    global_accessor.fenced = true;
  }
  [[noreturn]] void fail(RawFault fault);
  [[noreturn]] void fail_throw(const void* code);
  [[noreturn]] void fail_assertion(const char* expression, const void* code);
  [[noreturn]] void fail_misaligned(uintptr_t address, size_t bytes, bool is_write, const void* code, Where where = {});

  /// A kernel's printf().
  int print(const char* format, std::va_list arguments);

  /// Handles a signal that the instruction at `counter` raised while a CUDA thread was running.
  [[noreturn]] void fail_instruction(int signal, uintptr_t counter);

  /// Handles a timer signal. Ends the running thread if its launch is stuck; returns if it cannot end it yet.
  void on_clock(uintptr_t counter);
  [[noreturn]] void fail_subscript(const SubscriptSite* site, int64_t index);
  void trace_access(EventKind kind, const void* code, uintptr_t address, size_t bytes) {
    if (address - stack_base >= kStackBytes) trace->access(kind, code, address, bytes);
  }
  void trace_block(const void* code) {
    if (trace->block(code, *flow)) pause();
  }
  Counting* counting() const { return counting_.get(); }  ///< nullptr if the launch is not counted
  /// malloc() and free() on behalf of the running thread.
  void* allocate_on_heap(size_t bytes, const void* code);
  void release_on_heap(void* memory, const void* code);
  void begin_copy(PendingCopy copy, const void* code, Where where);
  void commit_copies();
  void wait_for_copies(size_t groups_left);
  int wait_at_barrier(BarrierOperation operation, int predicate, Where where);
  uint64_t warp_operation(const WarpRequest& request, uint64_t value, Where where);

  // ---- State that hooks read. Set for the running thread. ----

  Accessor accessor{};
  GlobalAccessor global_accessor{};
  PagedShadow block_shadow;     ///< of global memory
  LaneTrace* trace = nullptr;   ///< of the running thread; nullptr if the launch is not counted
  bool attention = false;       ///< the next access must be traced, or held stores must be checked
  ControlFlow* flow = nullptr;  ///< the control-flow graph that traces extend
  SharedRegion static_shared, dynamic_shared;
  uintptr_t stack_base = 0;
  static constexpr size_t kStackBytes = 64 * 1024;
  static constexpr size_t kStackReserve = 4 * 1024;  ///< a stack with fewer bytes left has overflowed
  static constexpr size_t kSites = 512;
  SiteEntry read_sites[kSites], write_sites[kSites];

  void* dynamic_memory() const { return dynamic_memory_; }

 private:
  void run_block(int64_t linear);
  bool run_warp(Warp& warp, int first_thread);
  void resume(Warp& warp, CudaThread& thread, int lane);
  [[noreturn]] void abandon();
  void pause();
  void suspend();
  static void fiber_main(boost::context::detail::transfer_t from);

  bool release_barrier();
  void report_waiting();
  void fail_if_stuck(const void* code, Where where);
  RawFault::Space space_of(uintptr_t& address) const;
  void note_progress() {  // only this worker's thread writes it
    progress_.store(progress_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void report(const RawFault& fault);
  void note(const RawFault& fault);
  void note_exited_threads(const CudaThread& waiting);
  void forget_shared_memory();
  void forget_sites() {
    std::fill(std::begin(read_sites), std::end(read_sites), SiteEntry{});
    std::fill(std::begin(write_sites), std::end(write_sites), SiteEntry{});
  }

  // Happens-before edges inside a block other than barriers, and candidate races.
  AccessKind kind_in_block(AccessKind kind) const;
  void synchronize_in_block(AccessKind kind);
  bool ordered_by_fences(const AccessRecord& other) const;
  RawFault order_fault(uintptr_t address, size_t bytes, AccessKind kind, const Site& site) const;
  ShadowResult touch_in_block(Shadow& shadow, size_t offset, size_t bytes, uintptr_t address, AccessKind kind,
                              std::vector<HeldPart>& parts);
  void name_other_side(RawFault& fault, const AccessRecord& other, bool other_wrote) const;
  void report_race_in_block(RawFault fault, const ShadowResult& result, AccessKind kind);
  void hold_in_block(RawFault fault, std::vector<HeldPart> parts);
  void hold(HeldStore store);
  void add_candidate(int guesser, RawFault fault);
  void settle_candidates(int guesser, uintptr_t address);
  void report_candidates_in_block();

  // warp.cc
  bool complete_if_all_arrived(Warp& warp, int first_thread, int lane);
  void complete(Warp& warp, int first_thread, LaneMask group);
  void share_acquired(int first_thread, LaneMask group);
  void complete_shuffle(Warp& warp, int first_thread, LaneMask group);
  bool release_stuck_lanes(Warp& warp, int first_thread);
  std::string missing_lane_text(const CudaThread& waiting, int missing) const;

  void check_shared(SharedRegion& region, RawFault::Space space, size_t offset, size_t bytes, AccessKind kind,
                    const void* code, Where where);
  void check_global(uintptr_t address, size_t bytes, AccessKind kind, const void* code, Where where);
  uintptr_t stack_of(int index) const { return stacks_ + static_cast<size_t>(index) * kStackBytes; }

  Grid* grid_ = nullptr;
  CudaThread* current_ = nullptr;
  boost::context::detail::fcontext_t scheduler_ = nullptr;
  int64_t block_linear_ = 0;
  bool block_is_dead_ = false;
  std::vector<RawFault> block_faults_;

  std::vector<CudaThread> threads_;
  std::vector<Warp> warps_;
  void* stack_memory_ = nullptr;
  uintptr_t stacks_ = 0;
  std::vector<int> free_stacks_;
  void* dynamic_memory_ = nullptr;
  void* signal_stack_ = nullptr;
  uint32_t epoch_ = 0;
  std::vector<Release> releases_;  ///< of this barrier interval
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
  SignalScope* signals_ = nullptr;
  SiteNumbers site_numbers_;
  std::unique_ptr<Counting> counting_;
  std::string printed_;  ///< output of the running block

  // Progress, as seen by this thread's timer handler.
  std::atomic<int64_t> progress_{0};  ///< threads that ended and words that were written
  int64_t last_progress_ = 0, last_progress_of_grid_ = 0;
  int ticks_without_progress_ = 0;
  std::atomic<bool> stuck_{false};
  int64_t resumed_ = 0, resumed_at_last_tick_ = -1;  ///< how often a CUDA thread was resumed
  bool spins_ = false;                               ///< stuck while one CUDA thread runs without waiting
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
