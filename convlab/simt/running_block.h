#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/simt/cuda_thread.h"
#include "convlab/simt/grid.h"
#include "convlab/simt/progress.h"
#include "convlab/simt/raw_fault.h"

namespace convlab::simt::internal {

class Scheduler;

/// The block that a worker runs: its threads, the one that runs now, and the faults so far.
struct RunningBlock {
  Grid* grid = nullptr;
  int64_t linear = 0;    ///< index of the block in the grid
  bool is_dead = false;  ///< none of its threads runs again
  std::vector<RawFault> faults;
  std::vector<RawFault> passed;  ///< faults after which the block goes on, if the grid does
  std::vector<CudaThread> threads = std::vector<CudaThread>(kMaxBlockThreads);
  std::vector<Warp> warps = std::vector<Warp>(kMaxBlockThreads / kWarpSize);
  CudaThread* current = nullptr;
  Scheduler* runs_on = nullptr;
  boost::context::detail::fcontext_t scheduler = nullptr;  ///< where a fiber continues whose thread is done
  Progress progress;
  std::string printed;  ///< output of printf()

  int number_of(const CudaThread& thread) const { return static_cast<int>(&thread - threads.data()); }
  int first_thread_of(const Warp& warp) const { return static_cast<int>(&warp - warps.data()) * kWarpSize; }
  int current_number() const { return number_of(*current); }

  /// Gives the faults after which the block went on to the grid, when the block has ended.
  void give_passed_to_grid();

  /// Reports a fault of any thread. note(): a warning.
  void report(const RawFault& fault);
  void note(const RawFault& fault) { grid->note(linear, fault); }

  /// Reports a fault of the running thread, and ends the thread.
  [[noreturn]] void fail(RawFault fault);
  [[noreturn]] void fail_throw(const void* code);

  /// Suspends the running thread until the scheduler resumes it. Its state says what it waits for.
  void suspend();

  /// Ends the running thread. Nothing unwinds its stack.
  [[noreturn]] void abandon();

  /// The same, but as if the kernel had returned: PTX's exit.
  [[noreturn]] void finish();
};

}  // namespace convlab::simt::internal
