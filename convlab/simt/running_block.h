#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/simt/cuda_thread.h"
#include "convlab/simt/grid.h"
#include "convlab/simt/progress.h"
#include "convlab/simt/raw_fault.h"
#include "convlab/simt/thread_run.h"

namespace convlab::simt::internal {

/// Switches between the fibers of threads.
class FiberSwitch {
 public:
  /// Called on a fiber: suspends its thread until another one lets it continue.
  virtual void suspend() = 0;

 protected:
  ~FiberSwitch() = default;
};

/// The block that a worker runs: its threads, the one that runs now, and the faults so far.
struct RunningBlock {
  Grid* grid = nullptr;
  int64_t linear = 0;    ///< index of the block in the grid
  bool is_dead = false;  ///< none of its threads runs again
  std::vector<RawFault> faults;
  std::vector<RawFault> passed;  ///< faults after which the block goes on, if the grid does
  std::vector<CudaThread> threads = std::vector<CudaThread>(kMaxBlockThreads);
  bool has_changed_threads = false;  ///< since the scheduler last restarted them
  std::vector<Warp> warps = std::vector<Warp>(kMaxBlockThreads / kWarpSize);
  FiberSwitch* fibers = nullptr;
  boost::context::detail::fcontext_t scheduler = nullptr;  ///< where a fiber continues whose thread is done
  Progress progress;
  std::string printed;  ///< output of printf()

  int number_of(const CudaThread& thread) const { return static_cast<int>(&thread - threads.data()); }
  int first_thread_of(const Warp& warp) const { return static_cast<int>(&warp - warps.data()) * kWarpSize; }
  int current_number() const { return thread_run.number; }
  /// The thread that runs now.
  CudaThread& current() {
    has_changed_threads = true;
    return threads[static_cast<size_t>(thread_run.number)];
  }
  const CudaThread& current() const { return threads[static_cast<size_t>(thread_run.number)]; }

  /// Gives the faults after which the block went on to the grid, when the block has ended.
  void give_passed_to_grid();

  /// Reports a fault of any thread. note(): a warning.
  void report(const RawFault& fault);
  void note(const RawFault& fault) { grid->note(linear, fault); }

  /// Reports a fault of the running thread, and ends the thread.
  [[noreturn]] void fail(RawFault fault);
  [[noreturn]] void fail_throw(const void* code);

  /// Suspends the running thread until the scheduler resumes it. Its state says what it waits for.
  void suspend() { fibers->suspend(); }

  /// Ends the running thread. Nothing unwinds its stack.
  [[noreturn]] void abandon();

  /// The same, but as if the kernel had returned: PTX's exit.
  [[noreturn]] void finish();
};

}  // namespace convlab::simt::internal
