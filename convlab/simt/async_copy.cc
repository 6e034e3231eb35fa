// Executes asynchronous copies to shared memory and checks that threads wait for them.

#include "convlab/simt/async_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "convlab/simt/worker.h"

namespace convlab::simt {
namespace internal {
namespace {

SharedRegion* shared_region_at(Worker& worker, uintptr_t address) {
  for (SharedRegion* const region : {&worker.static_shared, &worker.dynamic_shared}) {
    if (address - region->base < region->span) return region;
  }
  return nullptr;
}

// Checks the copy, and returns it with the fields that follow from its addresses.
PendingCopy begin_copy(Worker& worker, PendingCopy copy, const void* code, Where where) {
  const auto to = reinterpret_cast<uintptr_t>(copy.to), from = reinterpret_cast<uintptr_t>(copy.from);
  RawFault fault;
  fault.location = where;
  const bool sized = copy.bytes == 4 || copy.bytes == 8 || copy.bytes == 16;
  if (!sized || copy.zeros > copy.bytes || to % copy.bytes != 0 || from % copy.bytes != 0) {
    fault.kind = FaultKind::misaligned;
    fault.detail = fmt::format(
        "an asynchronous copy of {} bytes ({} zeros) from {} to {} bytes past a multiple of 16; size must be 4, 8 or "
        "16 and both addresses aligned to it",
        copy.bytes, copy.zeros, from % 16, to % 16);
    worker.fail(std::move(fault));
  }
  SharedRegion* const region = shared_region_at(worker, to);
  if (region == nullptr) {
    fault.kind = FaultKind::out_of_bounds_shared;
    fault.detail = "the destination of an asynchronous copy must be shared memory";
    worker.fail(std::move(fault));
  }
  if (worker.trace != nullptr) {  // counted launches are not checked
    if (copy.zeros < copy.bytes) worker.trace_access(EventKind::read, code, from, copy.bytes - copy.zeros);
    worker.trace_access(EventKind::write, code, to, copy.bytes);
  } else {
    worker.check_access(from, copy.bytes - copy.zeros, AccessKind::read, nullptr, where);
    worker.check_access(to, copy.bytes, AccessKind::write, nullptr, where);
    mark_in_flight(*region->shadow, to - region->base, copy.bytes, worker.accessor);
  }
  copy.group = worker.current().copy_groups;
  copy.shadow = worker.trace != nullptr ? nullptr : region->shadow.get();
  copy.offset = to - region->base;
  return copy;
}

void move_bytes(const PendingCopy& copy) {
  const size_t read = copy.bytes - copy.zeros;
  std::memcpy(copy.to, copy.from, read);
  std::memset(static_cast<char*>(copy.to) + read, 0, copy.zeros);
}

void land_copies(Worker& worker, size_t groups_left) {
  std::vector<PendingCopy>& copies = worker.current().copies;
  const auto end = std::find_if(copies.begin(), copies.end(), [&](const PendingCopy& copy) {
    return copy.group + groups_left >= worker.current().copy_groups;
  });
  for (auto copy = copies.begin(); copy != end; ++copy) {
    move_bytes(*copy);
    if (copy->shadow != nullptr) mark_landed(*copy->shadow, copy->offset, copy->bytes, worker.accessor);
  }
  copies.erase(copies.begin(), end);
}

void land_awaited_copies(Worker& worker, uintptr_t barrier, unsigned phase) {
  std::erase_if(worker.awaited_copies, [&](const AwaitedCopy& awaited) {
    if (awaited.barrier != barrier || awaited.phase != phase) return false;
    const PendingCopy& copy = awaited.copy;
    move_bytes(copy);
    if (copy.shadow == nullptr) return true;
    Accessor writer = worker.accessor;
    writer.now = awaited.start;
    // Since the start, all threads may have passed a barrier of the block.
    if (awaited.start.epoch == worker.accessor.now.epoch) {
      const int thread = static_cast<int>(awaited.start.warp) * kWarpSize + std::countr_zero(awaited.start.lanes);
      worker.clocks.release_until(thread, awaited.start.stamp, barrier);
    }
    mark_landed(*copy.shadow, copy.offset, copy.bytes, writer);
    return true;
  });
}

}  // namespace
}  // namespace internal

using internal::HostScope;
using internal::Worker;

void copy_async(void* to, const void* from, size_t bytes, size_t zeros, Where where) noexcept {
  Worker* const worker = internal::active_worker;
  if (!worker) return;
  const void* const code = __builtin_return_address(0);
  const HostScope host;
  if (worker->attention) worker->settle_stores();
  worker->current().copies.push_back(internal::begin_copy(*worker, {to, from, bytes, zeros}, code, where));
}

void commit_copies() noexcept {
  if (Worker* const worker = internal::active_worker) ++worker->current().copy_groups;
}

void wait_for_copies(size_t groups_left) noexcept {
  Worker* const worker = internal::active_worker;
  if (!worker) return;
  const HostScope host;
  if (worker->attention) worker->settle_stores();
  internal::land_copies(*worker, groups_left);
}

void copy_async_until(void* to, const void* from, size_t bytes, const void* barrier, unsigned phase,
                      Where where) noexcept {
  Worker* const worker = internal::active_worker;
  if (!worker) return;
  const void* const code = __builtin_return_address(0);
  const HostScope host;
  if (worker->attention) worker->settle_stores();
  const internal::PendingCopy copy = internal::begin_copy(*worker, {to, from, bytes, 0}, code, where);
  worker->awaited_copies.push_back({copy, reinterpret_cast<uintptr_t>(barrier), phase, worker->accessor.now});
}

void land_copies(const void* barrier, unsigned phase) noexcept {
  Worker* const worker = internal::active_worker;
  if (!worker || worker->awaited_copies.empty()) return;
  const HostScope host;
  internal::land_awaited_copies(*worker, reinterpret_cast<uintptr_t>(barrier), phase);
}

void await_copies(const void* barrier, unsigned phase) noexcept {
  Worker* const worker = internal::active_worker;
  if (!worker) return;
  const HostScope host;
  for (const internal::PendingCopy& copy : worker->current().copies) {
    worker->awaited_copies.push_back({copy, reinterpret_cast<uintptr_t>(barrier), phase, worker->accessor.now});
  }
  worker->current().copies.clear();
}

bool is_shared_memory(const void* address) noexcept {
  Worker* const worker = internal::active_worker;
  return worker && internal::shared_region_at(*worker, reinterpret_cast<uintptr_t>(address)) != nullptr;
}

}  // namespace convlab::simt
