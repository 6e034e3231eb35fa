// Runs the blocks of a grid: schedules the fibers of their threads, and releases barriers.

#include "convlab/simt/scheduler.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/simt/index_variables.h"
#include "convlab/simt/settings.h"
#include "convlab/simt/waiting_threads.h"
#include "convlab/simt/warp_operations.h"

namespace convlab::simt::internal {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

__thread cuda::uint3 thread_index, block_index, block_extent, grid_extent;
__thread ThreadRun thread_run;

namespace {

constexpr int kMaxThreads = static_cast<int>(kMaxBlockThreads);
constexpr size_t kStackBytes = Worker::kStackBytes;
// A stack frame may extend this far below the lowest stack before the function's entry detects the overflow.
constexpr size_t kStackMargin = 1 << 20;
constexpr size_t kSignalStackBytes = 128 * 1024;

}  // namespace

void Scheduler::run_fiber(transfer_t from) {
  Scheduler& self = *static_cast<Scheduler*>(from.data);
  Worker& worker = self.worker_;
  worker.scheduler = from.fctx;
  const KernelCall& call = worker.grid->call;
  while (true) {
    // From here on the timer may end the thread, because there is a scheduler to return to. Everywhere else that a
    // fiber is left or resumed, a HostScope surrounds it.
    active_worker = &worker;
    // An exception thrown by the kernel's own code ends in fail_throw(); one from a library that it calls ends here.
    bool thrown = false;
    try {
      call.invoke(call.arguments);
    } catch (...) {
      thrown = true;
    }
    const HostScope host;
    if (thrown) worker.fail_throw(static_cast<const char*>(call.function) + 1);
    self.end_run();
    self.running_thread().state = ThreadState::done;
    if (!self.end_thread_here()) jump_fcontext(worker.scheduler, nullptr);
  }
}

Scheduler::Memory::Memory(size_t bytes)
    : begin_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
      bytes_(bytes) {
  if (begin_ == MAP_FAILED) {
    throw unavailable("simt: cannot reserve {} bytes of address space for stacks or shared memory", bytes);
  }
}

Scheduler::Memory::~Memory() { munmap(begin_, bytes_); }

// Dynamic shared memory is aligned to 1024 bytes, since it begins at a page.
Scheduler::Scheduler()
    : stacks_(kStackMargin + kMaxThreads * kStackBytes),
      dynamic_memory_(kMaxSharedBytes + Worker::kDynamicGuard),
      signal_stack_(kSignalStackBytes),
      worker_(dynamic_memory_.begin()) {
  worker_.fibers = this;
}

uintptr_t Scheduler::stack_of(int index) const {
  return reinterpret_cast<uintptr_t>(stacks_.begin()) + kStackMargin + static_cast<size_t>(index) * kStackBytes;
}

void Scheduler::run(Grid& grid) {
  grid_extent = grid.grid;
  block_extent = grid.block;
  number_threads(grid.block);
  thread_run.indices = indices_.data();
  runs_threads_ = grid.checks.is_empty() && !grid.counted && grid.order.schedule().order == Schedule::Order::in_order;
  if (runs_threads_) restart_threads(kMaxThreads);
  worker_.begin_launch(grid);
  {
    SignalScope signals(*this, signal_stack_.begin(), kSignalStackBytes, stuck_after() / kTicksUntilStuck);
    signals_ = &signals;
    while (true) {
      const int64_t linear = grid.next_block.fetch_add(1, std::memory_order_relaxed);
      if (linear >= grid.blocks || linear > grid.first_fault_block.load(std::memory_order_relaxed)) break;
      run_block(linear);
      if (grid.barrier) grid.barrier->leave(linear, !worker_.faults.empty());
      worker_.give_passed_to_grid();
      if (!worker_.printed.empty()) grid.printed.add(linear, std::exchange(worker_.printed, {}));
    }
  }  // the timer handler reads the grid until the scope ends
  signals_ = nullptr;
  worker_.end_launch();
}

void Scheduler::number_threads(cuda::dim3 block) {
  if (std::tie(block.x, block.y, block.z) == std::tie(indexed_.x, indexed_.y, indexed_.z)) return;
  indexed_ = block;
  indices_.clear();
  for (unsigned z = 0; z < block.z; ++z) {
    for (unsigned y = 0; y < block.y; ++y) {
      for (unsigned x = 0; x < block.x; ++x) indices_.push_back({x, y, z});
    }
  }
}

// Makes the threads those of a new block, as a loop of thread_run.h expects them.
void Scheduler::restart_threads(int count) {
  worker_.has_changed_threads = false;
  for (CudaThread& thread : std::span(worker_.threads).first(static_cast<size_t>(count))) thread.begin(-1);
}

void Scheduler::begin_block(int64_t linear) {
  worker_.begin_block(linear);
  passing_ = 0;
  count_begun_block();
  const Grid& grid = *worker_.grid;
  const Position at = grid.block_position(linear);
  block_index = {at.x, at.y, at.z};
  if (free_stacks_.size() != static_cast<size_t>(kMaxThreads)) {
    free_stacks_.clear();
    for (int i = kMaxThreads - 1; i >= 0; --i) free_stacks_.push_back(i);
  }
  if (is_lenient()) forget_shared_memory();
  order_.begin_block(grid.order.schedule(), linear, (grid.block_threads + kWarpSize - 1) / kWarpSize);
  if (runs_threads_ && worker_.has_changed_threads) restart_threads(grid.block_threads);
  for (int first = 0; first < grid.block_threads; first += kWarpSize) {
    Warp& warp = worker_.warps[first / kWarpSize];
    const int lanes = std::min(kWarpSize, grid.block_threads - first);
    warp.all = warp.ready = lanes == 32 ? UINT32_MAX : (1u << lanes) - 1;
    warp.paused = warp.yielded = warp.waiting = warp.done = warp.begun = 0;
    warp.clock.restart();
  }
}

void Scheduler::run_block(int64_t linear) {
  begin_block(linear);
  const Grid& grid = *worker_.grid;
  const int count = grid.block_threads;
  while (true) {
    for (const int w : order_.next_warps()) {
      do {
        if (grid.first_fault_block.load(std::memory_order_relaxed) < linear || worker_.is_dead) return;
      } while (run_warp(worker_.warps[w]));
    }
    if (resume_yielded()) continue;
    if (worker_.is_dead) return;
    worker_.report_candidates();
    if (std::ranges::all_of(warps(), [](const Warp& warp) { return warp.done == warp.all; })) return;
    if (!release_barrier()) break;
  }
  if (worker_.is_dead) return;
  const bool lost = std::any_of(worker_.threads.begin(), worker_.threads.begin() + count,
                                [](const CudaThread& t) { return t.state == ThreadState::faulted; });
  // Threads that wait for one that a fault ended are a consequence of it: nothing to report.
  if (!lost) report_waiting(worker_);
}

// Fills shared memory with NaN.
void Scheduler::forget_shared_memory() {
  std::memset(dynamic_memory_.begin(), 0xff, worker_.dynamic_shared.bytes);
  auto* const words = reinterpret_cast<uint32_t*>(worker_.static_shared.base);
  for (size_t word = 0; word < worker_.static_shared.bytes / sizeof(uint32_t); ++word) {
    if (worker_.static_shared.used[word] != 0) words[word] = UINT32_MAX;
  }
}

// Runs the warp's lanes until each is done or waits for others. Returns true if waiting lanes can continue now.
bool Scheduler::run_warp(Warp& warp) {
  const int first_thread = worker_.first_thread_of(warp);
  do {
    while (warp.ready != 0) {
      const int lane = order_.next_lane(warp.ready);
      resume(warp, worker_.threads[first_thread + lane], lane);
      if (worker_.is_dead) return false;
    }
    if (Counting* const counting = worker_.counting()) counting->advance(first_thread, warp.paused);
    warp.ready = std::exchange(warp.paused, 0);
  } while (warp.ready != 0);
  return warp.waiting != 0 && release_stuck_lanes(worker_, warp);
}

void Scheduler::resume(Warp& warp, CudaThread& thread, int lane) {
  const bool is_new = (warp.begun >> lane & 1) == 0;
  if (is_new) {
    warp.begun |= 1u << lane;
    const int stack = free_stacks_.back();
    free_stacks_.pop_back();
    thread.begin(stack);
    // Stack tops differ in their offset in the page. Otherwise the frames of all threads would share few cache sets.
    const uintptr_t top = stack_of(stack) + kStackBytes - static_cast<uintptr_t>(stack % 61) * 64;
    thread.context = make_fcontext(reinterpret_cast<void*>(top), kStackBytes, &run_fiber);
  }
  enter(warp, thread, lane);
  // Threads begin in the order of their numbers, so all later ones are new, too.
  if (is_new && runs_threads_) thread_run.end = worker_.grid->block_threads;
  arrive(jump_fcontext(thread.context, this));
}

// Takes note of where control came from: from the scheduler, from a thread that waits now, or from one that is done or
// faulted, whose fiber is not resumed.
inline void Scheduler::arrive(transfer_t from) {
  if (from.data == this) {
    worker_.scheduler = from.fctx;
  } else if (from.data != nullptr) {
    static_cast<CudaThread*>(from.data)->context = from.fctx;
  } else {
    end_run();
    note_left(running_warp(), running_thread());
  }
}

void Scheduler::suspend() {
  end_run();
  CudaThread& thread = running_thread();
  Warp& warp = running_warp();
  note_left(warp, thread);
  fcontext_t to = worker_.scheduler;
  if (warp.ready != 0 && !worker_.is_dead) {
    const int lane = order_.next_lane(warp.ready);
    if ((warp.begun >> lane & 1) != 0) {
      CudaThread& next = worker_.threads[worker_.first_thread_of(warp) + lane];
      enter(warp, next, lane);
      to = next.context;
    }
  }
  arrive(jump_fcontext(to, &thread));
}

bool Scheduler::is_done(int thread) const {
  return (worker_.warps[static_cast<size_t>(thread / kWarpSize)].done >> (thread % kWarpSize) & 1) != 0;
}

inline CudaThread& Scheduler::running_thread() {
  return worker_.threads[static_cast<size_t>(worker_.current_number())];
}

inline Warp& Scheduler::running_warp() {
  return worker_.warps[static_cast<size_t>(worker_.current_number() / kWarpSize)];
}

// Lets the running fiber, or the one that is resumed next, continue as this thread.
inline void Scheduler::enter(Warp& warp, CudaThread& thread, int lane) {
  worker_.progress.note_resumed();
  const int number = worker_.number_of(thread);
  thread_index = indices_[static_cast<size_t>(number)];
  thread_run.end = run_begin_ = number;
  worker_.begin_thread(thread, warp, lane, stack_of(thread.stack));
}

// Takes note of the threads that have ended in a loop before the running one: see thread_run.h.
inline void Scheduler::end_run() {
  const int begin = std::exchange(run_begin_, thread_run.number), end = thread_run.number;
  if (begin == end) return;
  for (int first = begin; first < end; first = first / kWarpSize * kWarpSize + kWarpSize) {
    Warp& warp = worker_.warps[static_cast<size_t>(first / kWarpSize)];
    const int count = std::min(end - first, kWarpSize - first % kWarpSize);
    const LaneMask ended = static_cast<LaneMask>((uint64_t{1} << count) - 1) << (first % kWarpSize);
    warp.done |= ended;
    warp.ready &= ~ended;
    warp.begun |= ended;
  }
  running_warp().begun |= 1u << (end % kWarpSize);
  worker_.has_moved = true;
  worker_.progress.note();
  running_thread().stack = worker_.threads[static_cast<size_t>(begin)].stack;
}

// Called on the fiber of a thread that is done: continues as the next thread if that has not begun, which spares two
// switches of fibers. Does not read the next thread, which is rarely in the first-level cache.
bool Scheduler::end_thread_here() {
  const CudaThread& done = running_thread();
  const int number = worker_.number_of(done);
  Warp& warp = running_warp();
  const LaneMask lane = 1u << (number % kWarpSize), others = warp.ready & ~lane;
  if (others == 0 || worker_.is_dead) return false;
  const int next_lane = order_.next_lane(others);
  if ((warp.begun >> next_lane & 1) != 0) return false;
  if (worker_.attention) worker_.settle_stores();
  worker_.has_moved = true;
  worker_.progress.note();
  warp.done |= lane;
  warp.ready = others;
  warp.begun |= 1u << next_lane;
  CudaThread& next = worker_.threads[number / kWarpSize * kWarpSize + next_lane];
  next.begin(done.stack);
  enter(warp, next, next_lane);
  return true;
}

// Takes note that the thread is done or waits.
void Scheduler::note_left(Warp& warp, const CudaThread& thread) {
  const int lane = worker_.number_of(thread) % kWarpSize;
  if (worker_.attention) worker_.settle_stores();
  if (thread.state != ThreadState::yielded) worker_.has_moved = true;
  switch (thread.state) {
    case ThreadState::done:
      worker_.progress.note();
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
    case ThreadState::yielded:
      warp.ready &= ~(1u << lane);
      warp.yielded |= 1u << lane;
      break;
    case ThreadState::ready:
      break;
  }
}

// Returns the warps of the block.
std::span<Warp> Scheduler::warps() {
  return std::span(worker_.warps).first(static_cast<size_t>(worker_.grid->block_threads + kWarpSize - 1) / kWarpSize);
}

// Called when all threads wait or have yielded. Returns true if those that have yielded run again.
bool Scheduler::resume_yielded() {
  if (std::ranges::all_of(warps(), [](const Warp& warp) { return warp.yielded == 0; })) return false;
  const int count = worker_.grid->block_threads;
  const CudaThread* first = nullptr;
  bool all_wait = true;
  for (int t = 0; t < count; ++t) {
    CudaThread& thread = worker_.threads[t];
    if (thread.state != ThreadState::yielded) continue;
    if (first == nullptr) first = &thread;
    all_wait = all_wait && thread.waits;
    thread.state = ThreadState::ready;
  }
  if (first == nullptr) return false;
  if (all_wait && !std::exchange(worker_.has_moved, false)) {
    RawFault fault;
    fault.kind = FaultKind::stuck;
    fault.thread = worker_.number_of(*first);
    fault.location = first->where;
    fault.headline = "threads of the block wait for each other forever";
    worker_.report(fault);
    worker_.is_dead = true;
    return false;
  }
  for (Warp& warp : warps()) warp.ready |= std::exchange(warp.yielded, 0);
  if (worker_.grid->blocks > 1) ::sched_yield();  // they may wait for another block
  return true;
}

// Called when no thread can run. Returns true if all threads wait at the same barrier and now continue. Where the
// launch may go on, a barrier does not wait for threads that have exited, as on a GPU since compute capability 7.0.
bool Scheduler::release_barrier() {
  const int count = worker_.grid->block_threads;
  const CudaThread* first = nullptr;
  uint64_t sum = 0, waiting = 0;
  for (int t = 0; t < count; ++t) {
    const CudaThread& thread = worker_.threads[t];
    if (is_done(t) && (is_lenient() || worker_.grid->goes_on)) continue;
    if (first == nullptr) first = &thread;
    if (thread.state != ThreadState::at_barrier || thread.barrier != first->barrier ||
        !same_place(thread.where, first->where)) {
      return false;
    }
    sum += thread.value;
    ++waiting;
  }
  if (first == nullptr) return false;
  const bool is_missed = waiting < static_cast<uint64_t>(count), of_grid = first->barrier == BarrierOperation::grid;
  if (is_missed && of_grid && !is_lenient()) return false;
  if (of_grid && !pass_grid_barrier(*first)) return false;
  if (is_missed) report_exited_threads(*first, static_cast<int>(waiting));
  if (first->barrier == BarrierOperation::all) sum = sum == waiting;
  if (first->barrier == BarrierOperation::any) sum = sum != 0;
  for (int t = 0; t < count; ++t) {
    if (is_done(t)) continue;
    worker_.threads[t].state = ThreadState::ready;
    worker_.threads[t].value = sum;
  }
  for (int w = 0; w * kWarpSize < count; ++w) {
    worker_.warps[w].ready = worker_.warps[w].all & ~worker_.warps[w].done;
    worker_.warps[w].clock.restart();
  }
  worker_.pass_barrier();
  return true;
}

// Waits for the other blocks of a cooperative launch. Returns false if one of them never arrives.
bool Scheduler::pass_grid_barrier(const CudaThread& waiting) {
  Grid& grid = *worker_.grid;
  const GridBarrier::Outcome outcome = grid.barrier->wait([&grid] {
    if (grid.races.checked()) grid.races.begin_interval(take_block_serials(static_cast<uint64_t>(grid.blocks)));
  });
  if (outcome == GridBarrier::Outcome::passed) {
    worker_.global_accessor = grid.races.accessor_of(worker_.linear);
    return true;
  }
  if (outcome == GridBarrier::Outcome::missed) {
    RawFault fault;
    fault.kind = FaultKind::divergent_barrier;
    fault.of_grid = true;
    fault.thread = worker_.number_of(waiting);
    fault.location = waiting.where;
    fault.other_block = OtherAccess{.block = grid.barrier->missing_block()};
    worker_.report(fault);
  }
  worker_.is_dead = true;
  return false;
}

// Later barriers miss the same threads: one report is enough.
void Scheduler::report_exited_threads(const CudaThread& waiting, int count) {
  if (std::exchange(passing_, count) == count) return;
  int exited = 0;
  while (!is_done(exited)) ++exited;
  RawFault fault;
  fault.kind = FaultKind::missed_barrier;
  fault.thread = worker_.number_of(waiting);
  fault.other_thread = exited;
  fault.location = waiting.where;
  fault.of_grid = waiting.barrier == BarrierOperation::grid;
  fault.waiting = count;
  is_lenient() ? worker_.note(fault) : worker_.report(fault);
}

void Scheduler::on_instruction(int signal, uintptr_t counter) {
  if (!active_worker) return;
  const HostScope host;
  const Grid& grid = *worker_.grid;
  RawFault fault;
  // An address in a library that the kernel called has no line to report: use the kernel's.
  fault.code = grid.module->segment_at(counter) ? reinterpret_cast<const void*>(counter + 1)
                                                : static_cast<const char*>(grid.call.function) + 1;
  if (signal == SIGFPE) {
    fault.kind = FaultKind::division;
  } else {
    fault.kind = FaultKind::processor;
    fault.detail = signal == SIGILL || signal == SIGTRAP ? "an invalid instruction" : "an unmapped address";
  }
  worker_.fail(std::move(fault));
}

void Scheduler::on_clock(uintptr_t counter) {
  Grid& grid = *worker_.grid;
  const bool has_ended_threads = thread_run.number != run_begin_;  // which end_run() does not know yet
  if (has_ended_threads && std::exchange(number_at_tick_, thread_run.number) != thread_run.number) {
    worker_.progress.note();
  }
  if (!worker_.progress.is_stuck()) {
    // After a fault in an earlier block, this block's results are not needed.
    const bool is_needed = grid.first_fault_block.load(std::memory_order_relaxed) >= worker_.linear;
    if (!worker_.progress.tick(grid.progress, is_needed)) return;
    signals_->hurry();
  }
  if (!active_worker || !grid.module->segment_at(counter)) return;
  if (const Symbol* function = grid.module->function_at(counter)) {
    for (const std::string_view own : {"__tsan", "__ubsan", "_ZN7convlab4simt", "_ZNK7convlab4simt"}) {
      if (std::string_view(function->mangled).substr(0, own.size()) == own) return;
    }
  }
  const HostScope host;
  worker_.fail_if_stuck(reinterpret_cast<const void*>(counter + 1), {});
}

}  // namespace convlab::simt::internal
