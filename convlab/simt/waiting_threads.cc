// Reports threads that wait at a barrier or a warp operation forever.

#include "convlab/simt/waiting_threads.h"

#include <algorithm>
#include <bit>

#include "convlab/simt/warp_operations.h"

namespace convlab::simt::internal {

void report_waiting(Worker& worker) {
  const int count = worker.grid->block_threads;
  auto first_with = [&](auto&& wanted) {
    return static_cast<int>(std::find_if(worker.threads.begin(), worker.threads.begin() + count, wanted) -
                            worker.threads.begin());
  };
  RawFault fault;
  const int at_operation = first_with([](const CudaThread& t) { return t.state == ThreadState::at_warp_operation; });
  if (at_operation < count) {
    const CudaThread& waiting = worker.threads[at_operation];
    const int base = at_operation / kWarpSize * kWarpSize;
    const Warp& warp = worker.warps[at_operation / kWarpSize];
    const LaneMask expected = waiting.request.mask & warp.all & ~warp.done;
    LaneMask missing = 0;
    for (LaneMask lanes = expected; lanes != 0; lanes &= lanes - 1) {
      const CudaThread& other = worker.threads[base + std::countr_zero(lanes)];
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
      fault.detail = missing_lane_text(worker, waiting, fault.other_thread);
    }
    worker.report(fault);
    return;
  }
  const int at_barrier = first_with([](const CudaThread& t) { return t.state == ThreadState::at_barrier; });
  if (at_barrier == count) return;
  const CudaThread& waiting = worker.threads[at_barrier];
  auto at_same_barrier = [&](const CudaThread& t) {
    return t.state == ThreadState::at_barrier && t.barrier == waiting.barrier && same_place(t.where, waiting.where);
  };
  const int missing = first_with([&](const CudaThread& t) { return !at_same_barrier(t); });
  fault.kind = FaultKind::divergent_barrier;
  fault.thread = at_barrier;
  fault.other_thread = missing;
  fault.location = waiting.where;
  fault.of_grid = waiting.barrier == BarrierOperation::grid;
  fault.waiting =
      static_cast<int>(std::count_if(worker.threads.begin(), worker.threads.begin() + count, at_same_barrier));
  if (missing < count && worker.threads[missing].state == ThreadState::at_barrier) {
    fault.other_location = worker.threads[missing].where;
  }
  worker.report(fault);
}

}  // namespace convlab::simt::internal
