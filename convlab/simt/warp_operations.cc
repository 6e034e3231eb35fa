// Completes warp operations: shuffles, votes, reductions, __syncwarp and wmma.

#include "convlab/simt/warp_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "convlab/simt/settings.h"

namespace convlab::simt::internal {
namespace {

constexpr const char* kNames[] = {"__syncwarp",        "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",
                                  "__shfl_xor_sync",   "__all_sync",        "__any_sync",        "__ballot_sync",
                                  "__activemask",      "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync",
                                  "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync",
                                  "__reduce_xor_sync", "__match_any_sync",  "__match_all_sync",  "a wmma function"};
static_assert(std::size(kNames) == static_cast<size_t>(WarpOperation::collective) + 1);

const char* name_of(WarpOperation operation) { return kNames[static_cast<size_t>(operation)]; }

// Returns the lane that a shuffle reads; the caller's own lane if the source is outside the segment.
int source_lane(const WarpRequest& request, int lane) {
  const int segment = lane & ~(request.width - 1);
  const int in_segment = lane - segment;
  int source = in_segment;
  if (request.operation == WarpOperation::shuffle) source = request.lane & (request.width - 1);
  if (request.operation == WarpOperation::shuffle_up) source = in_segment - request.lane;
  if (request.operation == WarpOperation::shuffle_down) source = in_segment + request.lane;
  if (request.operation == WarpOperation::shuffle_xor) source = in_segment ^ request.lane;
  return source < 0 || source >= request.width ? lane : segment + source;
}

bool is_shuffle(WarpOperation operation) {
  return operation >= WarpOperation::shuffle && operation <= WarpOperation::shuffle_xor;
}

uint64_t combine(WarpOperation operation, uint64_t a, uint64_t b) {
  const auto ua = static_cast<uint32_t>(a), ub = static_cast<uint32_t>(b);
  const auto sa = static_cast<int32_t>(ua), sb = static_cast<int32_t>(ub);
  switch (operation) {
    case WarpOperation::add:
      return static_cast<uint32_t>(ua + ub);
    case WarpOperation::smallest:
      return static_cast<uint32_t>(std::min(sa, sb));
    case WarpOperation::largest:
      return static_cast<uint32_t>(std::max(sa, sb));
    case WarpOperation::unsigned_smallest:
      return std::min(ua, ub);
    case WarpOperation::unsigned_largest:
      return std::max(ua, ub);
    case WarpOperation::vote_all:
    case WarpOperation::bit_and:
      return ua & ub;
    case WarpOperation::vote_any:
    case WarpOperation::bit_or:
      return ua | ub;
    case WarpOperation::bit_xor:
      return ua ^ ub;
    default:
      return 0;
  }
}

void complete_shuffle(Worker& worker, Warp& warp, LaneMask group) {
  const int first_thread = worker.first_thread_of(warp);
  uint64_t values[kWarpSize] = {};
  for (LaneMask lanes = group; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    values[lane] = worker.threads[first_thread + lane].value;
  }
  for (LaneMask lanes = group; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    CudaThread& thread = worker.threads[first_thread + lane];
    const int source = source_lane(thread.request, lane);
    if (group >> source & 1) {
      thread.value = values[source];
      continue;
    }
    RawFault fault;
    fault.kind = FaultKind::absent_source;
    fault.thread = first_thread + lane;
    if (warp.all >> source & 1) fault.other_thread = first_thread + source;
    fault.location = thread.where;
    fault.detail = fmt::format("{} with mask {:#010x}: lane {} reads lane {}, which {}",
                               name_of(thread.request.operation), thread.request.mask, lane, source,
                               !(thread.request.mask >> source & 1) ? "is not in the mask"
                               : warp.all >> source & 1             ? "has exited"
                                                                    : "is past the end of the block");
    worker.report(fault);
    if (worker.grid->goes_on) continue;  // with the lane's own value
    thread.state = ThreadState::faulted;
    warp.ready &= ~(lanes & -lanes);
  }
}

void complete_match(Worker& worker, const Warp& warp, LaneMask group) {
  const int first_thread = worker.first_thread_of(warp);
  const auto thread_of = [&](LaneMask lanes) -> CudaThread& {
    return worker.threads[first_thread + std::countr_zero(lanes)];
  };
  const bool is_any = thread_of(group).request.operation == WarpOperation::match_any;
  for (LaneMask left = group; left != 0;) {
    const uint64_t value = thread_of(left).value;
    LaneMask same = 0;
    for (LaneMask lanes = left; lanes != 0; lanes &= lanes - 1) {
      if (thread_of(lanes).value == value) same |= lanes & -lanes;
    }
    left &= ~same;
    const LaneMask answer = is_any || same == group ? same : 0;
    const LaneMask answered = is_any ? same : group;
    for (LaneMask lanes = answered; lanes != 0; lanes &= lanes - 1) thread_of(lanes).value = answer;
    if (!is_any) return;
  }
}

void complete(Worker& worker, Warp& warp, LaneMask group) {
  const int first_thread = worker.first_thread_of(warp);
  auto thread_of = [&](LaneMask lanes) -> CudaThread& {
    return worker.threads[first_thread + std::countr_zero(lanes)];
  };
  const WarpRequest& request = thread_of(group).request;
  if (request.operation == WarpOperation::collective) {
    void* payloads[kWarpSize] = {};
    for (LaneMask lanes = group; lanes != 0; lanes &= lanes - 1) {
      payloads[std::countr_zero(lanes)] = thread_of(lanes).request.payload;
    }
    // The last lane to arrive does the work of all lanes, and its accesses count as those of the whole warp. A fault
    // ends that lane here, and the others keep waiting.
    const LaneMask own = std::exchange(worker.accessor.now.lanes, group);
    const auto order = [&] {
      if (is_strict()) return;
      warp.clock.synchronize(group, warp.all);
      worker.accessor.now.stamp = warp.clock.stamp;
    };
    order();
    request.run(worker, payloads, thread_of(group).where);
    order();
    worker.accessor.now.lanes = own;
  }
  for (LaneMask lanes = group; lanes != 0; lanes &= lanes - 1) thread_of(lanes).state = ThreadState::ready;
  warp.waiting &= ~group;
  warp.ready |= group;
  if (is_shuffle(request.operation)) return complete_shuffle(worker, warp, group);
  switch (request.operation) {
    case WarpOperation::collective:
      return;
    case WarpOperation::sync:
      warp.clock.synchronize(group, warp.all);
      worker.clocks.share(first_thread, group);
      worker.accessor.now.stamp = warp.clock.stamp;  // for the calling lane, which continues immediately
      return;
    case WarpOperation::active_mask:
      for (LaneMask lanes = group; lanes != 0; lanes &= lanes - 1) thread_of(lanes).value = group;
      return;
    case WarpOperation::match_any:
    case WarpOperation::match_all:
      return complete_match(worker, warp, group);
    case WarpOperation::ballot: {
      uint64_t ballot = 0;
      for (LaneMask lanes = group; lanes != 0; lanes &= lanes - 1) {
        if (thread_of(lanes).value) ballot |= lanes & -lanes;
      }
      for (LaneMask lanes = group; lanes != 0; lanes &= lanes - 1) thread_of(lanes).value = ballot;
      return;
    }
    default: {
      uint64_t combined = thread_of(group).value;
      for (LaneMask lanes = group & (group - 1); lanes != 0; lanes &= lanes - 1) {
        combined = combine(request.operation, combined, thread_of(lanes).value);
      }
      for (LaneMask lanes = group; lanes != 0; lanes &= lanes - 1) thread_of(lanes).value = combined;
    }
  }
}

// Completes the operation that `lane` waits for if all other lanes of its mask wait there. They become ready.
bool complete_if_all_arrived(Worker& worker, Warp& warp, int lane) {
  const int first_thread = worker.first_thread_of(warp);
  const WarpRequest& request = worker.threads[first_thread + lane].request;
  const LaneMask group = request.mask & warp.all & ~warp.done;
  if ((group & ~warp.waiting) != 0) return false;
  for (LaneMask lanes = group; lanes != 0; lanes &= lanes - 1) {
    const WarpRequest& other = worker.threads[first_thread + std::countr_zero(lanes)].request;
    if (other.operation != request.operation || other.mask != request.mask || other.run != request.run) return false;
  }
  complete(worker, warp, group);
  return true;
}

}  // namespace

uint64_t run_warp_operation(Worker& worker, const WarpRequest& request, uint64_t value, Where where) {
  CudaThread& self = worker.current();
  Warp& warp = worker.warps[worker.accessor.now.warp];
  const int lane = std::countr_zero(worker.accessor.now.lanes);
  const bool agreed = request.operation != WarpOperation::active_mask;
  if (worker.attention) worker.settle_stores();
  worker.fail_if_stuck(nullptr, where);
  RawFault fault;
  fault.location = where;
  if (agreed && !(request.mask & worker.accessor.now.lanes)) {
    fault.kind = FaultKind::inactive_lane;
    fault.detail = fmt::format("lane {} calls {} with mask {:#010x}, which does not include it", lane,
                               name_of(request.operation), request.mask);
    worker.fail(std::move(fault));
  }
  if (is_shuffle(request.operation) &&
      (request.width < 1 || request.width > 32 || (request.width & (request.width - 1)) != 0)) {
    fault.kind = FaultKind::inactive_lane;
    fault.detail =
        fmt::format("{} with width {}; it must be a power of two up to 32", name_of(request.operation), request.width);
    worker.fail(std::move(fault));
  }
  self.request = request;
  self.value = value;
  self.where = where;
  self.state = ThreadState::at_warp_operation;
  warp.waiting |= worker.accessor.now.lanes;
  if (!agreed || !complete_if_all_arrived(worker, warp, lane)) {
    worker.suspend();
  } else if (self.state == ThreadState::faulted) {
    worker.abandon();
  }
  return self.value;
}

// Called when no lane of the warp can run. Completes operations whose missing lanes have exited; otherwise answers
// __activemask(). Returns true if any lane can continue.
bool release_stuck_lanes(Worker& worker, Warp& warp) {
  const int first_thread = worker.first_thread_of(warp);
  for (LaneMask lanes = warp.waiting; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    const WarpRequest& request = worker.threads[first_thread + lane].request;
    if (request.operation == WarpOperation::active_mask) continue;
    // The work of a wmma function may fault, which ends the thread that runs it: only the last lane to arrive may run
    // it.
    if (request.operation != WarpOperation::collective && complete_if_all_arrived(worker, warp, lane)) return true;
  }
  LaneMask group = 0;
  Where place;
  for (LaneMask lanes = warp.waiting; lanes != 0; lanes &= lanes - 1) {
    const CudaThread& thread = worker.threads[first_thread + std::countr_zero(lanes)];
    if (thread.request.operation != WarpOperation::active_mask) continue;
    if (group == 0) place = thread.where;
    if (thread.where.line() == place.line() && thread.where.column() == place.column()) group |= lanes & -lanes;
  }
  if (group == 0) return false;
  complete(worker, warp, group);
  return true;
}

std::string missing_lane_text(const Worker& worker, const CudaThread& waiting, int missing) {
  const CudaThread& other = worker.threads[missing];
  std::string text = fmt::format("{} with mask {:#010x} waits for lane {}, which ", name_of(waiting.request.operation),
                                 waiting.request.mask, missing % kWarpSize);
  if (other.state == ThreadState::at_barrier) {
    text += fmt::format("waits at __syncthreads, line {}", other.where.line());
  } else if (other.state == ThreadState::at_warp_operation) {
    text += fmt::format("waits at {} with mask {:#010x}, line {}", name_of(other.request.operation), other.request.mask,
                        other.where.line());
  } else {
    text += "has exited or is in another branch";
  }
  return text;
}

}  // namespace convlab::simt::internal
