// Runs grids on the host: schedules fibers and checks the memory accesses of each CUDA thread.

#include "convlab/simt/execution.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <tuple>

#include "convlab/simt/host_access.h"

namespace convlab::simt {
namespace internal {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constinit thread_local Worker* active_worker = nullptr;

// The variables that kernels see as threadIdx etc.: see warp.h.
extern __thread cuda::uint3 thread_index __asm__("convlab_simt_thread_index");
extern __thread cuda::uint3 block_index __asm__("convlab_simt_block_index");
extern __thread cuda::uint3 block_extent __asm__("convlab_simt_block_extent");
extern __thread cuda::uint3 grid_extent __asm__("convlab_simt_grid_extent");
__thread cuda::uint3 thread_index, block_index, block_extent, grid_extent;

namespace {

std::atomic<int64_t> begun_blocks{0};

constexpr int kMaxThreads = static_cast<int>(kMaxBlockThreads);
// A stack frame may extend this far below the lowest stack before the function's entry detects the overflow.
constexpr size_t kStackMargin = 1 << 20;
constexpr size_t kDynamicAlignment = 1024;
// An access this far past the end of dynamic shared memory still counts as an out-of-bounds access to it.
constexpr size_t kDynamicGuard = 64 * 1024;
// An access outside all ranges and guards, but this close to the static shared arrays, counts as out of their bounds.
constexpr size_t kStaticNear = 64 * 1024;
constexpr size_t kSignalStackBytes = 128 * 1024;

void* map_memory(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw unavailable("simt: cannot reserve {} bytes of address space for stacks or shared memory", bytes);
  }
  return memory;
}

Position position_of(int64_t linear, cuda::dim3 extent) {
  return {static_cast<unsigned>(linear % extent.x), static_cast<unsigned>(linear / extent.x % extent.y),
          static_cast<unsigned>(linear / extent.x / extent.y)};
}

bool same_place(const Where& a, const Where& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

}  // namespace

void report_candidates(Grid& grid) {
  for (const CandidateRace& candidate : grid.races.candidates()) {
    if (candidate.block > grid.first_fault_block) continue;
    if (candidate.block < grid.first_fault_block) grid.faults.clear();
    grid.first_fault_block = candidate.block;
    const auto known = std::find_if(grid.faults.begin(), grid.faults.end(), [&](const RawFault& fault) {
      return fault.code == candidate.site.code && same_place(fault.location, candidate.site.where);
    });
    if (known != grid.faults.end()) {
      ++known->times;
    } else if (grid.faults.size() < FaultError::kMaxFaults) {
      RawFault fault;
      fault.kind = FaultKind::race_global;
      fault.thread = candidate.thread;
      fault.other_block = candidate.other;
      fault.space = RawFault::Space::global;
      fault.address = candidate.address;
      fault.access_bytes = 4;
      fault.is_write = candidate.is_write;
      fault.code = candidate.site.code;
      fault.location = candidate.site.where;
      grid.faults.push_back(std::move(fault));
    }
  }
}

Position Grid::block_position(int64_t linear) const { return position_of(linear, grid); }
Position Grid::thread_position(int linear) const { return position_of(linear, block); }

Worker::Worker() : threads_(kMaxThreads), warps_(kMaxThreads / kWarpSize) {
  stack_memory_ = map_memory(kStackMargin + kMaxThreads * kStackBytes);
  stacks_ = reinterpret_cast<uintptr_t>(stack_memory_) + kStackMargin;
  dynamic_memory_ = map_memory(kMaxSharedBytes + kDynamicGuard);
  signal_stack_ = map_memory(kSignalStackBytes);
  dynamic_shared.base = reinterpret_cast<uintptr_t>(dynamic_memory_);
  dynamic_shared.span = kMaxSharedBytes + kDynamicGuard;
  dynamic_shared.make_shadow(kMaxSharedBytes);
  static_assert(kDynamicAlignment <= 4096, "a page is aligned enough");
}

Worker::~Worker() {
  if (stack_memory_) munmap(stack_memory_, kStackMargin + kMaxThreads * kStackBytes);
  if (dynamic_memory_) munmap(dynamic_memory_, kMaxSharedBytes + kDynamicGuard);
  if (signal_stack_) munmap(signal_stack_, kSignalStackBytes);
}

void Worker::run(Grid& grid) {
  grid_ = &grid;
  grid_extent = grid.grid;
  block_extent = grid.block;
  block_linear_ = 0;  // the previous launch's index could make on_clock() end a thread of this one
  static_shared.base = grid.module->thread_local_base();
  static_shared.span = static_shared.bytes = grid.module->thread_local_bytes();
  static_shared.used = grid.shared_arrays->words.data();
  if (!static_shared.shadow || static_shared.shadow->bytes() < static_shared.span) {
    static_shared.make_shadow(static_shared.span);
  }
  dynamic_shared.bytes = grid.shared_bytes;
  forget_sites();  // allocations may have changed since the last launch

  site_numbers_ = {};
  if (grid.counted) {
    counting_ = std::make_unique<Counting>(MemoryMap{static_shared.base, dynamic_shared.base, static_shared.span,
                                                     dynamic_shared.span, grid.ranges.get(), grid.module});
    flow = &counting_->flow();
  }
  ticks_without_progress_ = 0;
  stuck_ = false;
  grid.stores.join(store_under_way_);
  {
    SignalScope signals(*this, signal_stack_, kSignalStackBytes);
    signals_ = &signals;
    while (true) {
      const int64_t linear = grid.next_block.fetch_add(1, std::memory_order_relaxed);
      if (linear >= grid.blocks || linear > grid.first_fault_block.load(std::memory_order_relaxed)) break;
      run_block(linear);
      if (!printed_.empty()) grid.printed.add(linear, std::exchange(printed_, {}));
    }
  }  // the timer handler reads the grid until the scope ends
  grid.stores.leave(store_under_way_);
  signals_ = nullptr;
  if (counting_) {
    std::lock_guard lock(grid.mutex);
    grid.counts.add(counting_->counts());
    counting_.reset();
  }
  trace = nullptr;
  grid_ = nullptr;
}

void Worker::run_block(int64_t linear) {
  Grid& grid = *grid_;
  if (epoch_ > UINT32_MAX - (1u << 30)) {  // leaves 2^30 epochs for the barriers of the next block
    epoch_ = 0;
    static_shared.shadow->clear();
    dynamic_shared.shadow->clear();
    block_shadow.clear();
  }
  block_linear_ = linear;
  begun_blocks.fetch_add(1, std::memory_order_relaxed);
  const Position at = grid.block_position(linear);
  block_index = {at.x, at.y, at.z};
  block_is_dead_ = false;
  block_faults_.clear();
  accessor.block_epoch = ++epoch_;
  global_accessor = grid.races.accessor_of(linear);
  block_shadow.begin_block();
  releases_.clear();
  candidates_.clear();
  if (free_stacks_.size() != static_cast<size_t>(kMaxThreads)) {
    free_stacks_.clear();
    for (int i = kMaxThreads - 1; i >= 0; --i) free_stacks_.push_back(i);
  }

  if (is_lenient()) forget_shared_memory();
  const int count = grid.block_threads;
  cuda::uint3 index{0, 0, 0};
  for (int t = 0; t < count; ++t) {
    CudaThread& thread = threads_[t];
    thread.context = nullptr;
    thread.stack = -1;
    thread.state = ThreadState::ready;
    thread.fenced = false;
    thread.acquired = 0;
    thread.index = index;
    thread.copies.clear();
    thread.copy_groups = 0;
    if (++index.x == grid.block.x) {
      index.x = 0;
      if (++index.y == grid.block.y) index.y = 0, ++index.z;
    }
  }
  if (counting_) counting_->begin_block(count);
  const int warp_count = (count + kWarpSize - 1) / kWarpSize;
  for (int w = 0; w < warp_count; ++w) {
    Warp& warp = warps_[w];
    const int lanes = std::min(kWarpSize, count - w * kWarpSize);
    warp.all = warp.ready = lanes == 32 ? UINT32_MAX : (1u << lanes) - 1;
    warp.paused = warp.waiting = warp.done = 0;
    warp.clock.restart();
  }

  while (true) {
    for (int w = 0; w < warp_count; ++w) {
      do {
        if (grid.first_fault_block.load(std::memory_order_relaxed) < linear || block_is_dead_) return;
      } while (run_warp(warps_[w], w * kWarpSize));
    }
    report_candidates_in_block();
    if (!release_barrier()) break;
  }
  if (block_faults_.empty()) {
    const bool all_done = std::all_of(threads_.begin(), threads_.begin() + count,
                                      [](const CudaThread& t) { return t.state == ThreadState::done; });
    if (all_done) return;
  }
  const bool lost = std::any_of(threads_.begin(), threads_.begin() + count,
                                [](const CudaThread& t) { return t.state == ThreadState::faulted; });
  // Threads that wait for one that a fault ended are a consequence of it: nothing to report.
  if (!lost) report_waiting();
}

// Fills shared memory with NaN.
void Worker::forget_shared_memory() {
  std::memset(dynamic_memory_, 0xff, dynamic_shared.bytes);
  auto* const words = reinterpret_cast<uint32_t*>(static_shared.base);
  for (size_t word = 0; word < static_shared.bytes / sizeof(uint32_t); ++word) {
    if (static_shared.used[word] != 0) words[word] = UINT32_MAX;
  }
}

// Runs the warp's lanes until each is done or waits for others. Returns true if waiting lanes can continue now.
bool Worker::run_warp(Warp& warp, int first_thread) {
  do {
    while (warp.ready != 0) {
      const int lane = std::countr_zero(warp.ready);
      resume(warp, threads_[first_thread + lane], lane);
      if (block_is_dead_) return false;
    }
    if (counting_) counting_->advance(first_thread, warp.paused);
    warp.ready = std::exchange(warp.paused, 0);
  } while (warp.ready != 0);
  return warp.waiting != 0 && release_stuck_lanes(warp, first_thread);
}

void Worker::resume(Warp& warp, CudaThread& thread, int lane) {
  if (!thread.context) {
    thread.stack = free_stacks_.back();
    free_stacks_.pop_back();
    // Stack tops differ in their offset in the page. Otherwise the frames of all threads would share few cache sets.
    const uintptr_t top = stack_of(thread.stack) + kStackBytes - static_cast<uintptr_t>(thread.stack % 61) * 64;
    thread.context = make_fcontext(reinterpret_cast<void*>(top), kStackBytes, &Worker::fiber_main);
  }
  ++resumed_;
  current_ = &thread;
  thread_index = thread.index;
  accessor.set(epoch_, 1u << lane, static_cast<int>(&warp - warps_.data()), warp.clock);
  stack_base = stack_of(thread.stack);
  if (counting_) trace = &counting_->trace(static_cast<int>(&thread - threads_.data()));
  attention = trace != nullptr;
  const transfer_t back = jump_fcontext(thread.context, this);
  thread.context = back.fctx;
  if (attention) settle_stores();
  switch (thread.state) {
    case ThreadState::done:
      note_progress();
      warp.done |= 1u << lane;
      [[fallthrough]];
    case ThreadState::faulted:
      warp.ready &= ~(1u << lane);
      free_stacks_.push_back(thread.stack);
      break;
    case ThreadState::at_barrier:
    case ThreadState::at_warp_operation:
      warp.ready &= ~(1u << lane);
      break;
    case ThreadState::paused:
      warp.ready &= ~(1u << lane);
      warp.paused |= 1u << lane;
      break;
    case ThreadState::ready:
      break;
  }
}

// Suspends the lane until its trace is counted.
void Worker::pause() {
  const HostScope host;
  current_->state = ThreadState::paused;
  suspend();
}

void Worker::fiber_main(transfer_t from) {
  Worker* worker = static_cast<Worker*>(from.data);
  worker->scheduler_ = from.fctx;
  // From here on the timer may end the thread, because there is a scheduler to return to. Everywhere else that a fiber
  // is left or resumed, a HostScope surrounds it.
  active_worker = worker;
  // An exception thrown by the kernel's own code ends in fail_throw(); one from a library that it calls ends here.
  bool thrown = false;
  try {
    worker->grid_->call.invoke(worker->grid_->call.arguments);
  } catch (...) {
    thrown = true;
  }
  const HostScope host;
  if (thrown) worker->fail_throw(static_cast<const char*>(worker->grid_->call.function) + 1);
  worker->current_->state = ThreadState::done;
  jump_fcontext(worker->scheduler_, nullptr);
  __builtin_unreachable();
}

void Worker::suspend() {
  const transfer_t back = jump_fcontext(scheduler_, nullptr);
  scheduler_ = back.fctx;
}

void Worker::abandon() {
  current_->state = ThreadState::faulted;
  jump_fcontext(scheduler_, nullptr);
  __builtin_unreachable();
}

int Worker::wait_at_barrier(BarrierOperation operation, int predicate, Where where) {
  fail_if_stuck(nullptr, where);
  CudaThread& self = *current_;
  self.state = ThreadState::at_barrier;
  self.barrier = operation;
  self.value = predicate != 0;
  self.where = where;
  suspend();
  return static_cast<int>(self.value);
}

// Called when no thread can run. Returns true if all threads wait at the same barrier and now continue. In lenient
// mode, threads that have exited do not count.
bool Worker::release_barrier() {
  const int count = grid_->block_threads;
  const CudaThread* first = nullptr;
  uint64_t sum = 0, waiting = 0;
  for (int t = 0; t < count; ++t) {
    const CudaThread& thread = threads_[t];
    if (thread.state == ThreadState::done && is_lenient()) continue;
    if (first == nullptr) first = &thread;
    if (thread.state != ThreadState::at_barrier || thread.barrier != first->barrier ||
        !same_place(thread.where, first->where)) {
      return false;
    }
    sum += thread.value;
    ++waiting;
  }
  if (first == nullptr) return false;
  if (waiting < static_cast<uint64_t>(count)) note_exited_threads(*first);
  if (first->barrier == BarrierOperation::all) sum = sum == waiting;
  if (first->barrier == BarrierOperation::any) sum = sum != 0;
  for (int t = 0; t < count; ++t) {
    if (threads_[t].state == ThreadState::done) continue;
    threads_[t].state = ThreadState::ready;
    threads_[t].value = sum;
    threads_[t].acquired = 0;
  }
  releases_.clear();
  for (int w = 0; w * kWarpSize < count; ++w) {
    warps_[w].ready = warps_[w].all & ~warps_[w].done;
    warps_[w].clock.restart();
  }
  ++epoch_;
  return true;
}

void Worker::note_exited_threads(const CudaThread& waiting) {
  const auto exited = std::find_if(threads_.begin(), threads_.begin() + grid_->block_threads,
                                   [](const CudaThread& t) { return t.state == ThreadState::done; });
  RawFault fault;
  fault.kind = FaultKind::divergent_barrier;
  fault.thread = static_cast<int>(&waiting - threads_.data());
  fault.other_thread = static_cast<int>(exited - threads_.begin());
  fault.location = waiting.where;
  note(fault);
}

// No thread can run, and not all are done: some thread waits for another that never arrives.
void Worker::report_waiting() {
  const int count = grid_->block_threads;
  auto first_with = [&](auto&& wanted) {
    return static_cast<int>(std::find_if(threads_.begin(), threads_.begin() + count, wanted) - threads_.begin());
  };
  RawFault fault;
  const int at_operation = first_with([](const CudaThread& t) { return t.state == ThreadState::at_warp_operation; });
  if (at_operation < count) {
    const CudaThread& waiting = threads_[at_operation];
    const int base = at_operation / kWarpSize * kWarpSize;
    const Warp& warp = warps_[at_operation / kWarpSize];
    const LaneMask expected = waiting.request.mask & warp.all & ~warp.done;
    LaneMask missing = 0;
    for (LaneMask lanes = expected; lanes != 0; lanes &= lanes - 1) {
      const CudaThread& other = threads_[base + std::countr_zero(lanes)];
      if (other.state != ThreadState::at_warp_operation || other.request.operation != waiting.request.operation ||
          other.request.mask != waiting.request.mask) {
        missing |= lanes & -lanes;
      }
    }
    fault.kind = FaultKind::divergent_warp;
    fault.thread = at_operation;
    fault.location = waiting.where;
    if (missing != 0) {
      fault.other_thread = base + std::countr_zero(missing);
      fault.detail = missing_lane_text(waiting, fault.other_thread);
    }
    report(fault);
    return;
  }
  const int at_barrier = first_with([](const CudaThread& t) { return t.state == ThreadState::at_barrier; });
  if (at_barrier == count) return;
  const CudaThread& waiting = threads_[at_barrier];
  auto at_same_barrier = [&](const CudaThread& t) {
    return t.state == ThreadState::at_barrier && t.barrier == waiting.barrier && same_place(t.where, waiting.where);
  };
  const int missing = first_with([&](const CudaThread& t) { return !at_same_barrier(t); });
  fault.kind = FaultKind::divergent_barrier;
  fault.thread = at_barrier;
  fault.other_thread = missing;
  fault.location = waiting.where;
  fault.waiting = static_cast<int>(std::count_if(threads_.begin(), threads_.begin() + count, at_same_barrier));
  if (missing < count && threads_[missing].state == ThreadState::at_barrier) {
    fault.other_location = threads_[missing].where;
  }
  report(fault);
}

// Adds the fault, or counts it if an equal one is known. Returns false if there are too many.
static bool add_fault(std::vector<RawFault>& faults, const RawFault& fault) {
  const auto same = std::find_if(faults.begin(), faults.end(), [&](const RawFault& known) {
    return known.kind == fault.kind && known.code == fault.code && known.subscript == fault.subscript &&
           known.space == fault.space && same_place(known.location, fault.location) &&
           (fault.kind != FaultKind::redundant_write || known.other_block.has_value() == fault.other_block.has_value());
  });
  if (same != faults.end()) {
    ++same->times;
    same->writers = std::max(same->writers, fault.writers);
    return true;
  }
  if (faults.size() >= FaultError::kMaxFaults) return false;
  faults.push_back(fault);
  return true;
}

void Worker::note(const RawFault& fault) {
  std::lock_guard lock(grid_->mutex);
  if (grid_->noting_block < 0) grid_->noting_block = block_linear_;
  if (grid_->noting_block == block_linear_) add_fault(grid_->noted, fault);
}

void Worker::report(const RawFault& fault) {
  const bool uninitialized =
      fault.kind == FaultKind::uninitialized_shared || fault.kind == FaultKind::uninitialized_global;
  if (uninitialized && is_lenient()) return note(fault);
  if (fault.kind == FaultKind::redundant_write && !is_strict()) return note(fault);
  if (!add_fault(block_faults_, fault)) block_is_dead_ = true;
  {
    // Reports the first block, in grid order, that has a fault: blocks before it still run to their end.
    std::lock_guard lock(grid_->mutex);
    if (block_linear_ <= grid_->first_fault_block.load(std::memory_order_relaxed)) {
      grid_->first_fault_block.store(block_linear_, std::memory_order_relaxed);
      grid_->faults = block_faults_;
    }
  }
}

void Worker::fail(RawFault fault) {
  fault.thread = static_cast<int>(current_ - threads_.data());
  // A stack overflow may have overwritten another thread's stack. If one thread is stuck, others wait for the same
  // thing.
  if (fault.kind == FaultKind::stack_overflow || fault.kind == FaultKind::stuck) block_is_dead_ = true;
  report(fault);
  // Nothing unwinds this stack, so nothing on it may own a resource.
  fault.~RawFault();
  new (&fault) RawFault;
  abandon();
}

void Worker::fail_throw(const void* code) {
  RawFault fault;
  fault.kind = FaultKind::exception;
  fault.code = code;
  fault.detail = "kernels cannot throw";
  fail(std::move(fault));
}

void Worker::fail_assertion(const char* expression, const void* code) {
  RawFault fault;
  fault.kind = FaultKind::assertion;
  fault.code = code;
  fault.detail = expression;
  fail(std::move(fault));
}

// Returns the memory space of the address. For shared memory, replaces the address by the offset in the region.
RawFault::Space Worker::space_of(uintptr_t& address) const {
  if (const size_t offset = address - static_shared.base; offset < static_shared.span) {
    address = offset;
    return RawFault::Space::static_shared;
  }
  if (const size_t offset = address - dynamic_shared.base; offset < dynamic_shared.span) {
    address = offset;
    return RawFault::Space::dynamic_shared;
  }
  return address - stack_base < kStackBytes ? RawFault::Space::none : RawFault::Space::global;
}

void Worker::fail_misaligned(uintptr_t address, size_t bytes, bool is_write, const void* code, Where where) {
  RawFault fault;
  fault.kind = FaultKind::misaligned;
  fault.access_bytes = static_cast<int>(bytes);
  fault.is_write = is_write;
  fault.code = code;
  fault.location = where;
  fault.address = address;
  fault.space = space_of(fault.address);
  fail(std::move(fault));
}

int Worker::print(const char* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  const int count = std::vsnprintf(nullptr, 0, format, arguments);
  const size_t before = printed_.size(), bytes = count < 0 ? 0 : static_cast<size_t>(count);
  if (before + bytes <= Printed::kMostBytes) {
    printed_.resize(before + bytes + 1);
    std::vsnprintf(printed_.data() + before, bytes + 1, format, again);
    printed_.resize(before + bytes);
  }
  va_end(again);
  return count;
}

void Worker::fail_instruction(int signal, uintptr_t counter) {
  RawFault fault;
  // An address in a library that the kernel called has no line to report: use the kernel's.
  fault.code = grid_->module->segment_at(counter) ? reinterpret_cast<const void*>(counter + 1)
                                                  : static_cast<const char*>(grid_->call.function) + 1;
  if (signal == SIGFPE) {
    fault.kind = FaultKind::division;
  } else {
    fault.kind = FaultKind::processor;
    fault.detail = signal == SIGILL ? "an invalid instruction" : "an unmapped address";
  }
  fail(std::move(fault));
}

void Worker::on_clock(uintptr_t counter) {
  if (!stuck_) {
    const int64_t own = progress_.load(std::memory_order_relaxed);
    if (own != last_progress_) grid_->progress.fetch_add(1, std::memory_order_relaxed);
    const int64_t all = grid_->progress.load(std::memory_order_relaxed);
    const bool progress = all != last_progress_of_grid_;
    spins_ = resumed_ == std::exchange(resumed_at_last_tick_, resumed_);
    last_progress_ = own;
    last_progress_of_grid_ = all;
    ticks_without_progress_ = progress ? 0 : ticks_without_progress_ + 1;
    // After a fault in an earlier block, this block's results are not needed.
    stuck_ = ticks_without_progress_ >= kTicksUntilStuck || launches_must_end() ||
             grid_->first_fault_block.load(std::memory_order_relaxed) < block_linear_;
    if (!stuck_) return;
    signals_->hurry();
  }
  if (!active_worker || !grid_->module->segment_at(counter)) return;
  if (const Symbol* function = grid_->module->function_at(counter)) {
    for (const std::string_view own : {"__tsan", "__ubsan", "_ZN7convlab4simt", "_ZNK7convlab4simt"}) {
      if (std::string_view(function->mangled).substr(0, own.size()) == own) return;
    }
  }
  const HostScope host;
  fail_if_stuck(reinterpret_cast<const void*>(counter + 1), {});
}

void Worker::fail_if_stuck(const void* code, Where where) {
  if (!stuck_) return;
  RawFault fault;
  fault.kind = FaultKind::stuck;
  fault.code = code;
  fault.location = where;
  fault.detail = launches_must_end() ? "until the time limit" : fmt::format("for {:g} s", stuck_after());
  if (const Range* range = nearest_range(*grid_->ranges, accessor.read);
      spins_ && accessor.read != 0 && (!range || accessor.read - range->base >= range->bytes || range->writable)) {
    fault.address = accessor.read;
    fault.space = space_of(fault.address);
    fault.other_code = grid_->module->code_ending_in(accessor.now.code, AccessRecord::kCodeBits);
  }
  fail(std::move(fault));
}

void Worker::fail_subscript(const SubscriptSite* site, int64_t index) {
  RawFault fault;
  fault.kind = FaultKind::out_of_bounds_shared;  // describe() decides which kind of array it is
  fault.subscript = site;
  fault.index = index;
  fail(std::move(fault));
}

void Worker::check_access(uintptr_t address, size_t bytes, AccessKind kind, const void* code, Where where) {
  if (bytes == 0) return;
  fail_if_stuck(code, where);
  accessor.at(code, kind == AccessKind::read ? address : 0);
  if (const size_t offset = address - static_shared.base; offset < static_shared.span) {
    check_shared(static_shared, RawFault::Space::static_shared, offset, bytes, kind, code, where);
  } else if (const size_t offset = address - dynamic_shared.base; offset < dynamic_shared.span) {
    check_shared(dynamic_shared, RawFault::Space::dynamic_shared, offset, bytes, kind, code, where);
  } else if (const size_t offset = address - stack_base; offset < kStackBytes && bytes <= kStackBytes - offset) {
    return;
  } else {
    check_global(address, bytes, kind, code, where);
  }
  synchronize_in_block(kind);
}

// A volatile write after a fence is a flag that others may wait for. Without a fence it orders nothing and is a plain
// write, as in code that assumes that a warp's lanes run in lockstep.
AccessKind Worker::kind_in_block(AccessKind kind) const {
  if (kind != AccessKind::volatile_write) return kind;
  return current_->fenced ? AccessKind::atomic_write : AccessKind::write;
}

// Called after the access.
void Worker::synchronize_in_block(AccessKind kind) {
  if (kind == AccessKind::read || kind == AccessKind::write) return;
  CudaThread& self = *current_;
  if (is_write(kind) && self.fenced) {
    WarpClock& clock = warps_[accessor.now.warp].clock;
    releases_.push_back({static_cast<int>(&self - threads_.data()), clock.stamp});
    accessor.now.stamp = ++clock.stamp;
    self.fenced = false;
  }
  if (kind != AccessKind::volatile_write) self.acquired = releases_.size();
}

// Returns true if all threads of the record released their accesses before the running thread acquired.
bool Worker::ordered_by_fences(const AccessRecord& other) const {
  const size_t acquired = current_->acquired;
  if (acquired == 0) return false;
  if (other.many_warps) return true;  // the threads are not known
  const bool alone = std::has_single_bit(other.lanes);
  for (LaneMask lanes = other.lanes; lanes != 0; lanes &= lanes - 1) {
    const int thread = static_cast<int>(other.warp) * kWarpSize + std::countr_zero(lanes);
    if (&threads_[thread] == current_) continue;
    // Of several lanes, only the last one's time is known.
    const bool released = std::any_of(
        releases_.begin(), releases_.begin() + static_cast<ptrdiff_t>(acquired),
        [&](const Release& release) { return release.thread == thread && (!alone || release.stamp >= other.stamp); });
    if (!released) return false;
  }
  return true;
}

// Checks word by word. A store that is a race unless it leaves the word unchanged becomes a part; the result is the
// first definite fault.
ShadowResult Worker::touch_in_block(Shadow& shadow, size_t offset, size_t bytes, uintptr_t address, AccessKind kind,
                                    std::vector<HeldPart>& parts) {
  const auto thread = static_cast<size_t>(current_ - threads_.data());
  ShadowResult first;
  for (size_t done = 0; done < bytes;) {
    const size_t at = offset + done, rest = std::min(bytes - done, 4 - at % 4);
    const size_t count = kind == AccessKind::write && rest < 4 ? 1 : rest;  // parts of words are kept by byte
    const ShadowResult found = touch(shadow, at, count, kind, accessor);
    const bool harmless = found.if_equal == ShadowResult::IfEqual::harmless ||
                          (found.if_equal == ShadowResult::IfEqual::if_others_did &&
                           redundant_words_.find(address + done, count, epoch_) != nullptr);
    if (found.kind == ShadowResult::race && kind == AccessKind::write && harmless) {
      HeldPart part = held_part(address + done, count);
      part.shadow = &shadow;
      part.offset = at;
      part.other = found.other;
      parts.push_back(part);
    } else if (found.kind == ShadowResult::race && kind == AccessKind::read && found.other.many_warps &&
               redundant_words_.may_be_read_by(thread, address + done, count, epoch_)) {
      // Not a race: the thread can only see the one value that is stored there.
    } else if (first.kind == ShadowResult::ok) {
      first = found;
    }
    done += count;
  }
  return first;
}

void Worker::name_other_side(RawFault& fault, const AccessRecord& other, bool other_wrote) const {
  const AccessRecord& now = accessor.now;
  // wmma acts for all lanes: then report any lane of the other side.
  const LaneMask own = other.warp == now.warp && std::has_single_bit(now.lanes) ? now.lanes : 0;
  const LaneMask others = other.lanes & ~own;
  fault.other_thread = static_cast<int>(other.warp) * kWarpSize + std::countr_zero(others ? others : other.lanes);
  fault.other_code = grid_->module->code_ending_in(other.code, AccessRecord::kCodeBits);
  fault.other_wrote = other_wrote;
}

void Worker::report_race_in_block(RawFault fault, const ShadowResult& result, AccessKind kind) {
  const AccessRecord& other = result.other;
  if (ordered_by_fences(other)) return;
  settle_candidates(kNobody, fault.address);
  name_other_side(fault, other, result.other_was_write);
  fault.before_barriers = epoch_ == accessor.block_epoch;
  const bool may_be_guess = result.other_was_write ? kind == AccessKind::read && other.atomic : is_atomic(kind);
  if (!may_be_guess) return report(fault);
  add_candidate(result.other_was_write ? fault.thread : fault.other_thread, std::move(fault));
}

void Worker::add_candidate(int guesser, RawFault fault) {
  constexpr size_t kMostCandidates = 1 << 12;
  if (candidates_.size() == kMostCandidates) return report(fault);
  const uintptr_t address = fault.address;
  candidates_.push_back({address, guesser, std::move(fault)});
}

void Worker::settle_candidates(int guesser, uintptr_t address) {
  if (candidates_.empty()) return;
  std::erase_if(candidates_, [&](const CandidateInBlock& candidate) {
    return candidate.guesser == guesser && candidate.address == address;
  });
}

void Worker::report_candidates_in_block() {
  for (CandidateInBlock& candidate : std::exchange(candidates_, {})) report(candidate.fault);
}

void Worker::check_shared(SharedRegion& region, RawFault::Space space, size_t offset, size_t bytes, AccessKind kind,
                          const void* code, Where where) {
  RawFault fault;
  fault.thread = static_cast<int>(current_ - threads_.data());
  fault.space = space;
  fault.address = offset;
  fault.access_bytes = static_cast<int>(bytes);
  fault.is_write = is_write(kind);
  fault.code = code;
  fault.location = where;
  bool inside = offset < region.bytes && bytes <= region.bytes - offset;
  for (size_t word = offset / 4; inside && region.used && word <= (offset + bytes - 1) / 4; ++word) {
    inside = region.used[word] != 0 && region.used[word] == region.used[offset / 4];
  }
  if (!inside) {
    fault.kind = FaultKind::out_of_bounds_shared;
    fail(std::move(fault));
  }
  kind = kind_in_block(kind);
  if (is_atomic(kind)) settle_candidates(fault.thread, offset);
  std::vector<HeldPart> parts;
  const ShadowResult result = touch_in_block(*region.shadow, offset, bytes, region.base + offset, kind, parts);
  if (result.kind == ShadowResult::uninitialized) {
    fault.kind = FaultKind::uninitialized_shared;
    add_candidate(kNobody, std::move(fault));
  } else if (result.kind == ShadowResult::race) {
    fault.kind = FaultKind::race_shared;
    report_race_in_block(std::move(fault), result, kind);
  } else if (result.kind == ShadowResult::in_flight) {
    fault.kind = FaultKind::race_shared;
    fault.other_thread = static_cast<int>(result.other.warp) * kWarpSize + std::countr_zero(result.other.lanes);
    fault.unawaited_copy = true;
    report(fault);
  } else {
    fault.kind = FaultKind::race_shared;
    hold_in_block(std::move(fault), std::move(parts));
  }
}

void Worker::check_global(uintptr_t address, size_t bytes, AccessKind kind, const void* code, Where where) {
  const bool writes = is_write(kind);
  RawFault fault;
  fault.thread = static_cast<int>(current_ - threads_.data());
  fault.space = RawFault::Space::global;
  fault.address = address;
  fault.access_bytes = static_cast<int>(bytes);
  fault.is_write = writes;
  fault.code = code;
  fault.location = where;

  SiteEntry found;
  const Range* range = nearest_range(*grid_->ranges, address);
  if (const DeviceHeap& heap = DeviceHeap::instance(); heap.holds(address)) {
    const std::optional<DeviceHeap::Block> block = heap.block_at(address);
    if (block && block->taken == nullptr && bytes <= block->bytes - std::min(address - block->base, block->bytes)) {
      found = {block->base, block->bytes, block->initialized, grid_->races.checked() ? block->cells : nullptr};
    }
  } else if (range && address - range->base < range->bytes && bytes <= range->bytes - (address - range->base)) {
    if (!writes || range->writable) {
      found = {range->base, range->bytes, range->initialized.get(),
               grid_->races.checked() ? range->cells.get() : nullptr};
    }
  } else if (const uintptr_t arguments = reinterpret_cast<uintptr_t>(grid_->call.arguments);
             !writes && address - arguments < grid_->call.argument_bytes) {
    found = {arguments, grid_->call.argument_bytes, nullptr, nullptr};
  } else if (const Module::Segment* segment = grid_->module->segment_at(address);
             segment && !writes && !segment->writable) {
    found = {segment->base, segment->bytes, nullptr, nullptr};
  } else if (segment && segment->writable) {
    // A __device__ or __constant__ variable. If the program has symbols, they separate it from its neighbors.
    const Symbol* const symbol = grid_->module->object_at(address);
    if (symbol && grid_->apart && grid_->module->is_host_variable(*symbol)) {
      fault.kind = FaultKind::host_memory;
      fail(std::move(fault));
    }
    if (symbol) {
      found = {symbol->begin + grid_->module->bias(), symbol->bytes, nullptr, nullptr};
      if (bytes > found.bytes - (address - found.base)) found.bytes = 0;
    } else if (!grid_->module->has_symbols()) {
      found = {segment->base, segment->bytes, nullptr, nullptr};
    }
    if (writes && grid_->module->is_constant(address)) found.bytes = 0;
    if (found.bytes > 0 && grid_->races.checked()) found.cells = cells_of_variable(found.base, found.bytes);
  }
  if (found.bytes == 0) {
    fault.kind = FaultKind::out_of_bounds_global;
    const uintptr_t from = static_shared.base - kStaticNear;
    if (address - from < static_shared.span + 2 * kStaticNear && !grid_->shared_arrays->symbols.empty() &&
        !is_in_device_block(address) && !released_at(address)) {
      fault.kind = FaultKind::out_of_bounds_shared;
      fault.space = RawFault::Space::static_shared;
      fault.address = address - static_shared.base;
    }
    fail(std::move(fault));
  }
  if (code) (writes ? write_sites : read_sites)[(reinterpret_cast<uintptr_t>(code) >> 1) % kSites] = found;
  if (found.cells) {
    // First check the block itself: a race inside a block usually occurs in all blocks and is then the closer cause.
    check_order_in_block(address, bytes, kind, {code, where});
    check_order(found, address, bytes, kind, {code, where});
  }
  if (kind != AccessKind::read && kind != AccessKind::write) grid_->races.synchronize(global_accessor);
  // Setting a constant from the host registers a range for it.
  if (!writes && !(range && address - range->base < range->bytes) && grid_->module->is_unset_constant(address)) {
    fault.kind = FaultKind::uninitialized_global;
    return add_candidate(kNobody, std::move(fault));
  }
  if (!found.initialized) return;
  const size_t first = (address - found.base) / 4, last = (address - found.base + bytes - 1) / 4;
  if (!writes || kind == AccessKind::atomic_update) {
    for (size_t word = first; word <= last; ++word) {
      if (is_initialised(found.initialized + word)) continue;
      fault.kind = FaultKind::uninitialized_global;
      add_candidate(kNobody, std::move(fault));
      break;
    }
  }
  for (size_t word = first; writes && word <= last; ++word) set_initialised(found.initialized + word);
}

void Worker::check_order(const SiteEntry& entry, uintptr_t address, size_t bytes, AccessKind kind, const Site& site) {
  const int thread = static_cast<int>(current_ - threads_.data());
  const uintptr_t end = address + bytes;
  uint64_t number = site.code ? site_numbers_[site.code] : 0;
  if (number == 0) {
    number = grid_->races.number_of(site);
    if (site.code) site_numbers_[site.code] = number;
  }
  if (kind == AccessKind::write) {
    store_under_way_.extend(address, end);
    attention = true;
  }
  std::optional<OtherAccess> other, unless_equal;
  std::vector<HeldPart> parts;
  for (uintptr_t at = address; at < end;) {
    const uintptr_t word = at & ~uintptr_t{3}, stop = std::min(end, word + 4);
    const unsigned mask = ((1u << (stop - at)) - 1) << (at - word);
    const auto found = grid_->races.touch(entry.cell(at), at, mask, kind, thread, number, global_accessor);
    if (found && found->unless_equal) {
      grid_->stores.wait_for(at, store_under_way_);
      HeldPart part = held_part(at, stop - at);
      part.cell = &entry.cell(at);
      part.mask = mask;
      parts.push_back(part);
      if (!unless_equal) unless_equal = found;
    } else if (!other) {
      other = found;
    }
    at = stop;
  }
  if (kind == AccessKind::write) note_progress();
  if (!other && !unless_equal) return;
  RawFault fault = order_fault(address, bytes, kind, site);
  fault.other_block = other ? other : unless_equal;
  other ? report(fault) : hold({.fault = std::move(fault), .parts = std::move(parts)});
}

void Worker::check_order_in_block(uintptr_t address, size_t bytes, AccessKind kind, const Site& site) {
  kind = kind_in_block(kind);
  if (is_atomic(kind)) settle_candidates(static_cast<int>(current_ - threads_.data()), address);
  ShadowResult result;
  std::vector<HeldPart> parts;
  for (uintptr_t at = address; at < address + bytes;) {
    const size_t offset = at % PagedShadow::kPageBytes;
    const size_t count = std::min(address + bytes - at, PagedShadow::kPageBytes - offset);
    const ShadowResult found = touch_in_block(block_shadow.page(at), offset, count, at, kind, parts);
    if (result.kind == ShadowResult::ok) result = found;
    at += count;
  }
  if (result.kind == ShadowResult::race) {
    report_race_in_block(order_fault(address, bytes, kind, site), result, kind);
  } else if (!parts.empty()) {
    hold_in_block(order_fault(address, bytes, kind, site), std::move(parts));
  }
}

RawFault Worker::order_fault(uintptr_t address, size_t bytes, AccessKind kind, const Site& site) const {
  RawFault fault;
  fault.kind = FaultKind::race_global;
  fault.thread = static_cast<int>(current_ - threads_.data());
  fault.space = RawFault::Space::global;
  fault.address = address;
  fault.access_bytes = static_cast<int>(bytes);
  fault.is_write = is_write(kind);
  fault.code = site.code;
  fault.location = site.where;
  return fault;
}

}  // namespace internal

using internal::active_worker;

int64_t blocks_begun() { return internal::begun_blocks; }

void* dynamic_shared_memory() noexcept { return active_worker ? active_worker->dynamic_memory() : nullptr; }

int block_barrier(BarrierOperation operation, int predicate, Where where) noexcept {
  internal::Worker* const worker = active_worker;
  if (!worker) return predicate != 0;
  const internal::HostScope host;
  return worker->wait_at_barrier(operation, predicate, where);
}

uint64_t warp_operation(WarpOperation operation, uint32_t mask, uint64_t value, int lane, int width,
                        Where where) noexcept {
  internal::Worker* const worker = active_worker;
  if (!worker) return value;
  const internal::HostScope host;
  return worker->warp_operation({operation, mask, lane, width, nullptr, nullptr}, value, where);
}

void warp_collective(CollectiveWork run, void* payload, Where where) noexcept {
  internal::Worker* const worker = active_worker;
  if (!worker) return;
  const internal::HostScope host;
  worker->warp_operation({WarpOperation::collective, UINT32_MAX, 0, kWarpSize, run, payload}, 0, where);
}

void thread_fence(FenceScope scope) noexcept {
  internal::Worker* const worker = active_worker;
  if (!worker) return;
  scope == FenceScope::block ? worker->fence_block() : worker->fence();
}

void trap(Where where) noexcept {
  internal::Worker* const worker = active_worker;
  if (!worker) std::terminate();
  const internal::HostScope host;
  internal::RawFault fault;
  fault.kind = FaultKind::trap;
  fault.location = where;
  worker->fail(std::move(fault));
}

}  // namespace convlab::simt
