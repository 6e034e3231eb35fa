// Passes the barriers of cooperative launches on to the scheduler.

#include "convlab/simt/grid_sync.h"

#include <utility>

#include "convlab/simt/warp.h"
#include "convlab/simt/worker.h"

namespace convlab::simt {

bool is_cooperative_launch() noexcept {
  const internal::Worker* const worker = internal::active_worker;
  return worker && worker->grid->barrier;
}

void grid_barrier(Where where) noexcept {
  internal::Worker* const worker = internal::active_worker;
  if (!worker) return;
  if (worker->grid->barrier) {
    block_barrier(BarrierOperation::grid, 0, where);
    return;
  }
  const internal::HostScope host;
  internal::RawFault fault;
  fault.kind = FaultKind::divergent_barrier;
  fault.of_grid = true;
  fault.waiting = 0;
  fault.location = where;
  worker->fail(std::move(fault));
}

}  // namespace convlab::simt
