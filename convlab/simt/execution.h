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

/// How a grid runs. Each worker (an OS thread) takes blocks in order and runs one at a time; each CUDA thread of the
/// block is a fiber, which runs until it waits for others; then the next lane runs, and then the next warp. The order
/// is always the same. A thread that faults stays where it is: its stack is reused, not unwound.
namespace convlab::simt::internal {

/// A fault as it is noticed. Names are looked up when the launch is over.
struct RawFault {
  enum class Space : uint8_t { none, static_shared, dynamic_shared, global };

  FaultKind kind{};
  int thread = 0;  ///< in the block, linear
  int other_thread = -1;
  const void* other_code = nullptr;        ///< of a race in a block: where the other access is, if we know it
  bool other_wrote = false;                ///< likewise
  bool unawaited_copy = false;             ///< the other is an asynchronous copy that its thread has not waited for
  std::optional<OtherAccess> other_block;  ///< of a race of blocks
  Space space = Space::none;
  uintptr_t address = 0;  ///< in global space; otherwise the offset in the region, which may be negative
  int access_bytes = 0;
  bool is_write = false;
  const void* code = nullptr;                       ///< return address of the access
  Where location{};                                 ///< of an intrinsic, if `code` is null
  const struct SubscriptSite* subscript = nullptr;  ///< of an array index
  int64_t index = 0;
  int waiting = 1;         ///< threads at a barrier that others do not reach
  Where other_location{};  ///< where the other thread waits instead, if it does
  std::string detail;      ///< words that only the reporter knows
  int writers = 0;         ///< of a redundant write in a block: how many threads store the value
  bool by_warps = false;   ///< likewise: each a whole warp, by wmma
  int64_t times = 1;
};

/// A store that races unless it leaves these parts as they are: then the fault is a redundant write.
struct HeldStore {
  RawFault fault;
  uint32_t warp = 0;
  LaneMask lanes = 0;
  std::vector<HeldPart> parts;
};

/// What the compiler passes with an index out of bounds: the layout is that of -fsanitize=bounds.
struct SubscriptSite {
  const char* file;
  uint32_t line, column;
  const struct ArrayType {
    uint16_t kind, info;
    char name[1];  // "'float [16][17]'", to its zero byte
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
  const Module* module = nullptr;
  const Symbol* kernel = nullptr;  ///< nullptr: the program has no symbols
  const SharedArrays* shared_arrays = nullptr;
  std::shared_ptr<const Ranges> ranges;
  GlobalRaces races;
  RedundantBlocks redundant;
  StoresUnderWay stores;
  Printed printed;
  bool counted = false;
  bool apart = false;  ///< kernels may not touch variables of the host: see host_code.h

  std::atomic<int64_t> next_block{0};
  std::atomic<int64_t> first_fault_block{INT64_MAX};  ///< later blocks stop or never start
  std::atomic<int64_t> progress{0};                   ///< changes while threads make progress: see set_stuck_after
  std::mutex mutex;                                   ///< guards what follows
  std::vector<RawFault> faults;                       ///< of first_fault_block
  int64_t noting_block = -1;                          ///< the block whose doings are noted
  std::vector<RawFault> noted;                        ///< of noting_block
  CodeCounts counts;
  std::exception_ptr error;

  Position block_position(int64_t linear) const;
  Position thread_position(int linear) const;
};

/// After a launch without faults: the candidate races of the first block that has any become faults.
void report_candidates(Grid& grid);

/// Calls use(argument, value) for each word of each argument that may be a pointer: arguments may be structs of them.
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

/// After a launch: puts what it noted where take_notes() finds it.
void keep_notes(const Grid& grid);

/// See Strictness.
bool is_lenient();
bool is_strict();

enum class ThreadState : uint8_t { ready, paused, at_barrier, at_warp_operation, done, faulted };

/// What a lane brings to a warp operation, apart from its value.
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
  size_t group = 0;          ///< of the thread's, in order
  Shadow* shadow = nullptr;  ///< of where it goes; nullptr: the launch is counted
  size_t offset = 0;         ///< there
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
  uint64_t value = 0;   ///< what it brings, and then what it gets
  bool fenced = false;  ///< there was a fence since its last release
  size_t acquired = 0;  ///< how many of the block's releases come before what it does
  std::vector<PendingCopy> copies;
  size_t copy_groups = 0;  ///< that it has committed
};

/// A fence and then an atomic operation of one thread in a barrier interval: what it did before comes before what
/// threads do after later atomic operations of their own. A volatile access counts as one, as between blocks.
struct Release {
  int thread = 0;
  uint32_t stamp = 0;  ///< what the thread did with this stamp of its warp's clock, or a lower one
};

struct Warp {
  LaneMask all = 0;  ///< lanes that exist
  LaneMask ready = 0;
  LaneMask paused = 0;   ///< until what they did is counted
  LaneMask waiting = 0;  ///< at a warp operation
  LaneMask done = 0;
  WarpClock clock;
};

/// The range that an instruction of the kernel touched last: it nearly always touches that one next.
struct SiteEntry {
  uintptr_t base = 0;
  size_t bytes = 0;
  uint8_t* initialised = nullptr;  ///< see Range
  GlobalCell* cells = nullptr;     ///< see Range

  GlobalCell& cell(uintptr_t address) const { return cells[address / 4 - base / 4]; }
};

// Several workers read and mark a range's map, in no order that matters.
inline bool is_initialised(const uint8_t* word) { return __atomic_load_n(word, __ATOMIC_RELAXED) != 0; }
inline void set_initialised(uint8_t* word) { __atomic_store_n(word, uint8_t{1}, __ATOMIC_RELAXED); }

struct SharedRegion {
  uintptr_t base = 0;
  size_t span = 0;                ///< addresses that belong to the region
  size_t bytes = 0;               ///< how many of them may be touched
  const uint8_t* used = nullptr;  ///< per word; nullptr: all
  Cell* words = nullptr;          ///< the shadow's, within easy reach
  std::unique_ptr<Shadow> shadow;

  void make_shadow(size_t bytes) {
    shadow = std::make_unique<Shadow>(Shadow::Of::shared, bytes);
    words = shadow->words();
  }
};

/// An OS thread's part in a launch. Kept for later launches: stacks and shadows are large and come back clean.
class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Takes and runs blocks until there are no more, on the calling thread.
  void run(Grid& grid);

  // ---- Called on a fiber, by hooks and intrinsics. ----

  void check_access(uintptr_t address, size_t bytes, AccessKind kind, const void* code, Where where = {});

  /// Checks an access to memory that `entry` covers against what other blocks do, and remembers it.
  void check_order(const SiteEntry& entry, uintptr_t address, size_t bytes, AccessKind kind, const Site& site);

  /// The same against what other threads of the block do.
  void check_order_in_block(uintptr_t address, size_t bytes, AccessKind kind, const Site& site);

  /// What the running thread was let store has landed: see redundant.h.
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

  /// A signal by the instruction at `counter`, while a CUDA thread runs.
  [[noreturn]] void fail_instruction(int signal, uintptr_t counter);

  /// A signal of the clock. Ends the running thread if its launch is stuck, and returns where it cannot end it yet.
  void on_clock(uintptr_t counter);
  [[noreturn]] void fail_subscript(const SubscriptSite* site, int64_t index);
  void trace_access(EventKind kind, const void* code, uintptr_t address, size_t bytes) {
    if (address - stack_base >= kStackBytes) trace->access(kind, code, address, bytes);
  }
  void trace_block(const void* code) {
    if (trace->block(code, *flow)) pause();
  }
  Counting* counting() const { return counting_.get(); }  ///< nullptr: the launch is not counted
  /// malloc() and free() of the running thread.
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
  LaneTrace* trace = nullptr;   ///< of the running thread; nullptr: the launch is not counted
  bool attention = false;       ///< at the next access: it is traced, or there are stores to settle
  ControlFlow* flow = nullptr;  ///< what traces learn
  SharedRegion static_shared, dynamic_shared;
  uintptr_t stack_base = 0;
  static constexpr size_t kStackBytes = 64 * 1024;
  static constexpr size_t kStackReserve = 4 * 1024;  ///< less than this left: overflow
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
  void note_progress() {  // no other thread writes
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

  // What orders the threads of a block beside barriers, and races that perhaps are none.
  AccessKind kind_in_block(AccessKind kind) const;
  void synchronise_in_block(AccessKind kind);
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
    int guesser;  ///< the thread whose plain read is no race if it goes on to an atomic operation there; kNobody: see
                  ///< below
    RawFault fault;
  };
  /// Likewise: what may turn out to be no fault, or a consequence. A read of what nothing wrote is one if the word is
  /// written by another thread before a barrier: then the two race.
  std::vector<CandidateInBlock> candidates_;
  std::vector<HeldStore> held_stores_;
  RedundantWords redundant_words_;
  StoreUnderWay store_under_way_;
  SignalScope* signals_ = nullptr;
  SiteNumbers site_numbers_;
  std::unique_ptr<Counting> counting_;
  std::string printed_;  ///< by the running block

  // Progress, as the clock's handler on this thread sees it.
  std::atomic<int64_t> progress_{0};  ///< threads that ended and words that were written
  int64_t last_progress_ = 0, last_progress_of_grid_ = 0;
  int ticks_without_progress_ = 0;
  std::atomic<bool> stuck_{false};
  int64_t resumed_ = 0, resumed_at_last_tick_ = -1;  ///< how often a CUDA thread was let go on
  bool spins_ = false;                               ///< stuck with one CUDA thread that waits for nobody
};

/// The worker whose CUDA thread runs on this OS thread now; nullptr while host code runs, including simt's own.
extern constinit thread_local Worker* active_worker;

/// simt's own work on a fiber. Functions that it shares with a kernel's file (templates of the standard library) may be
/// the instrumented versions, but the kernel does not call them here.
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
