#pragma once

#include <cstdint>

#include "convlab/model/graph.h"
#include "convlab/plan/plan.h"

namespace convlab {

/// Returns the bytes of device memory that a run of the plan needs, without the weights.
int64_t run_bytes(const Plan& plan);

/// Returns the batch size for runs of `input`, for a graph that computes each image independently: as many images as
/// fit into an arena of bounded size on a host, or into half the memory of a GPU. CPU plans in nchw8c or nhwc use fewer
/// images if their arrays then stay in the cache and this saves more than rereading the weights costs.
int64_t choose_batch(const Graph& graph, const Shape& input, const DeviceCaps& caps, const PlanOptions& options);

}  // namespace convlab
