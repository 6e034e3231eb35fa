#pragma once

#include <cstdint>
#include <string>

#include "convlab/simt/worker.h"

/// Warp operations as the running thread requests them. The lane that arrives last completes an operation.
namespace convlab::simt::internal {

/// Waits for the lanes of the request's mask, and returns the running lane's result.
uint64_t run_warp_operation(Worker& worker, const WarpRequest& request, uint64_t value, Where where);

/// Called when no lane of the warp can run. Completes operations whose missing lanes have exited; otherwise answers
/// __activemask(). Returns true if any lane can continue.
bool release_stuck_lanes(Worker& worker, Warp& warp);

/// Returns what a lane does that another one waits for: "__shfl_sync with mask 0xffffffff waits for lane 3, which ...".
std::string missing_lane_text(const Worker& worker, const CudaThread& waiting, int missing);

}  // namespace convlab::simt::internal
