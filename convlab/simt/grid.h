#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "convlab/simt/checks.h"
#include "convlab/simt/code_counts.h"
#include "convlab/simt/global_shadow.h"
#include "convlab/simt/grid_barrier.h"
#include "convlab/simt/kernel_call.h"
#include "convlab/simt/printed.h"
#include "convlab/simt/ranges.h"
#include "convlab/simt/raw_fault.h"
#include "convlab/simt/redundant.h"
#include "convlab/simt/schedule.h"
#include "convlab/simt/symbols.h"

namespace convlab::simt::internal {

/// Returns the position of a block or thread from its linear index.
Position position_of(int64_t linear, cuda::dim3 extent);

/// One launch, shared by its workers.
struct Grid {
  KernelCall call;
  cuda::dim3 grid, block;
  int block_threads = 0;
  int64_t blocks = 0;  ///< they are numbered in the order in which they begin, here and where the text says `linear`
  BlockOrder order;
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
  std::unique_ptr<GridBarrier> barrier;  ///< of a cooperative launch; nullptr in others
  Checks checks = simt::checks();
  bool counted = false;
  bool apart = false;    ///< kernels may not access host variables: see host_code.h
  bool goes_on = false;  ///< after faults that let it: see lets_kernel_go_on()

  std::atomic<int64_t> next_block{0};
  std::atomic<int64_t> first_fault_block{INT64_MAX};  ///< later blocks stop or never start
  std::atomic<int64_t> progress{0};                   ///< changes while threads make progress: see set_stuck_after
  std::mutex mutex;                                   ///< guards the members below
  std::vector<RawFault> faults;                       ///< of first_fault_block
  std::map<int64_t, std::vector<RawFault>> passed;    ///< faults after which kernels went on, by block
  int64_t noting_block = -1;                          ///< the block whose warnings are kept; -1: none yet
  std::vector<RawFault> noted;                        ///< warnings of noting_block
  CodeCounts counts;
  std::exception_ptr error;

  Position block_position(int64_t linear) const { return position_of(order.block_at(linear), grid); }
  Position thread_position(int linear) const { return position_of(linear, block); }

  /// Returns the kernel's name: "tile_kernel<16>".
  std::string kernel_name() const;

  /// Keeps the faults of a block if it is the first one, in grid order, that has any.
  void keep_faults(int64_t of_block, const std::vector<RawFault>& of_its_threads);

  /// Keeps a fault after which the block goes on, if it is the first one of its kind at its line in grid order.
  void keep_passed(int64_t of_block, const RawFault& fault);

  /// Keeps a warning of a block if it is the first one to have any.
  void note(int64_t of_block, const RawFault& fault);

  /// After a launch without faults: turns the candidate races of the first block that has any into faults.
  void report_candidates();
};

/// Whether both are of one kind and at one line.
bool same_fault(const RawFault& a, const RawFault& b);

/// Adds the fault, or counts it if an equal one is known. Returns false if there are too many.
bool add_fault(std::vector<RawFault>& faults, const RawFault& fault);

/// Returns the source line of a site in a kernel, as far as it is known.
SourcePlace place_of(const Module& module, const Site& site);

}  // namespace convlab::simt::internal
