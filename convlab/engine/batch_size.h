#pragma once

#include <cstdint>

#include "convlab/model/graph.h"
#include "convlab/plan/plan.h"

namespace convlab {

/// Bytes that a plan's run takes on the device, besides the weights.
int64_t run_bytes(const Plan& plan);

/// Images of `input` in a batch, of a graph that computes each image by itself: as many as fit into an arena of bounded
/// size on a host, or into half the memory of a GPU. Of a plan with channels in lanes or in bytes fewer, where its
/// arrays then stay in the cache and weights are not so large that reading them more often costs more.
int64_t choose_batch(const Graph& graph, const Shape& input, const DeviceCaps& caps, const PlanOptions& options);

}  // namespace convlab
