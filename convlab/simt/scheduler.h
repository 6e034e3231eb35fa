#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "convlab/simt/schedule.h"
#include "convlab/simt/signals.h"
#include "convlab/simt/vector_types.h"
#include "convlab/simt/worker.h"

/// Execution of a grid. Each worker (an OS thread) takes blocks in turn (see Schedule) and runs one at a time. Each
/// CUDA thread of the block runs on a fiber until it has to wait for others; then the next lane runs, and then the next
/// warp. A thread that ends without having waited leaves its fiber to the next one, and one that waits passes control
/// to the fiber of the next one, if it has begun. The blocks of a cooperative launch
/// all run at once, each by a worker of its own. The schedule inside a block is deterministic. The stack of a thread
/// that faults is reused, not unwound.
namespace convlab::simt::internal {

/// One OS thread's part in a launch. Reused by later launches: its stacks and shadow memory are large.
class Scheduler final : SignalReceiver, FiberSwitch {
 public:
  Scheduler();

  /// Takes and runs blocks on the calling thread until none is left.
  void run(Grid& grid);

 private:
  /// Zeroed memory. Only pages that are touched take space.
  class Memory {
   public:
    explicit Memory(size_t bytes);
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    void* begin() const { return begin_; }

   private:
    void* begin_;
    size_t bytes_;
  };

  void run_block(int64_t linear);
  void begin_block(int64_t linear);
  bool run_warp(Warp& warp);
  static void run_fiber(boost::context::detail::transfer_t from);
  void resume(Warp& warp, CudaThread& thread, int lane);
  void enter(Warp& warp, CudaThread& thread, int lane);
  void suspend() override;
  void end_run();
  bool end_thread_here();
  void arrive(boost::context::detail::transfer_t from);
  void note_left(Warp& warp, const CudaThread& thread);
  std::span<Warp> warps();
  Warp& running_warp();
  CudaThread& running_thread();
  bool is_done(int thread) const;
  bool release_barrier();
  bool resume_yielded();
  bool pass_grid_barrier(const CudaThread& waiting);
  void report_exited_threads(const CudaThread& waiting, int count);
  void forget_shared_memory();
  void number_threads(cuda::dim3 block);
  void restart_threads(int count);
  uintptr_t stack_of(int index) const;

  void on_instruction(int signal, uintptr_t counter) override;
  void on_clock(uintptr_t counter) override;

  Memory stacks_, dynamic_memory_, signal_stack_;
  std::vector<int> free_stacks_;
  std::vector<cuda::uint3> indices_;  ///< threadIdx of each thread of a block of this extent:
  cuda::dim3 indexed_{0, 0, 0};
  Worker worker_;
  ThreadOrder order_;
  bool runs_threads_ = false;  ///< in a loop on one fiber until one waits: see thread_run.h
  int run_begin_ = 0;          ///< the thread that the running fiber was entered as
  int number_at_tick_ = 0;     ///< of the thread that ran at the timer's last tick
  int passing_ = 0;            ///< threads that have passed a barrier of this block without those that have exited
  SignalScope* signals_ = nullptr;
};

}  // namespace convlab::simt::internal
