// Passes the barriers, warp operations and fences of CUDA threads on to their worker.

#include "convlab/simt/warp.h"

#include <exception>
#include <thread>
#include <utility>

#include "convlab/simt/warp_operations.h"
#include "convlab/simt/worker.h"

namespace convlab::simt {

void* dynamic_shared_memory() noexcept {
  return internal::active_worker ? reinterpret_cast<void*>(internal::active_worker->dynamic_shared.base) : nullptr;
}

int block_barrier(BarrierOperation operation, int predicate, Where where) noexcept {
  internal::Worker* const worker = internal::active_worker;
  if (!worker) return predicate != 0;
  const internal::HostScope host;
  worker->fail_if_stuck(nullptr, where);
  internal::CudaThread& self = worker->current();
  self.state = internal::ThreadState::at_barrier;
  self.barrier = operation;
  self.value = predicate != 0;
  self.where = where;
  worker->suspend();
  return static_cast<int>(self.value);
}

uint64_t warp_operation(WarpOperation operation, uint32_t mask, uint64_t value, int lane, int width,
                        Where where) noexcept {
  internal::Worker* const worker = internal::active_worker;
  if (!worker) return value;
  const internal::HostScope host;
  return internal::run_warp_operation(*worker, {operation, mask, lane, width, nullptr, nullptr}, value, where);
}

void warp_collective(CollectiveWork run, void* payload, Where where) noexcept {
  internal::Worker* const worker = internal::active_worker;
  if (!worker) return;
  const internal::HostScope host;
  internal::run_warp_operation(*worker, {WarpOperation::collective, UINT32_MAX, 0, kWarpSize, run, payload}, 0, where);
}

void thread_fence(FenceScope scope) noexcept {
  internal::Worker* const worker = internal::active_worker;
  if (!worker) return;
  scope == FenceScope::block ? worker->fence_block() : worker->fence();
}

void wait_for_change(const void* address, bool again, Where where) noexcept {
  internal::Worker* const worker = internal::active_worker;
  if (!worker) return std::this_thread::yield();
  const internal::HostScope host;
  if (worker->attention) worker->settle_stores();
  worker->wait_for_change(reinterpret_cast<uintptr_t>(address), again, where);
}

void fail_assertion(const char* what, Where where) noexcept {
  internal::Worker* const worker = internal::active_worker;
  if (!worker) std::terminate();
  const internal::HostScope host;
  internal::RawFault fault;
  fault.kind = FaultKind::assertion;
  fault.location = where;
  fault.detail = what;
  worker->fail(std::move(fault));
}

void fail_nested_launch(Where where) {
  internal::Worker* const worker = internal::active_worker;
  const internal::HostScope host;
  internal::RawFault fault;
  fault.kind = FaultKind::nested_launch;
  fault.location = where;
  worker->fail(std::move(fault));
}

bool in_kernel() noexcept { return internal::active_worker != nullptr; }

void trap(Where where) noexcept {
  internal::Worker* const worker = internal::active_worker;
  if (!worker) std::terminate();
  const internal::HostScope host;
  internal::RawFault fault;
  fault.kind = FaultKind::trap;
  fault.location = where;
  worker->fail(std::move(fault));
}

}  // namespace convlab::simt
