#pragma once

#include "convlab/plan/planner.h"
#include "convlab/rewrite/simplify.h"
#include "tests/support/graph_builder.h"

namespace convlab {

inline const DeviceCaps kCpu{.kind = DeviceKind::cpu, .threads = 2, .memory_bytes = int64_t{1} << 30};

/// Plans the graph, simplified, for `n` images on kCpu.
inline Plan plan_of(GraphBuilder& builder, const PlanOptions& options = {}, int64_t n = 4) {
  Shape shape = builder.graph().inputs[0].shape;
  shape[0] = n;
  const Graph graph = simplified(copy_of(builder.graph()), shape, options.mode != PlanMode::layers);
  return make_plan(graph, shape, kCpu, options);
}

}  // namespace convlab
