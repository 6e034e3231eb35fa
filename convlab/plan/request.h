#pragma once

#include <cstddef>
#include <vector>

#include "convlab/kernels/kernel.h"
#include "convlab/model/graph.h"
#include "convlab/plan/plan.h"
#include "convlab/rewrite/readers.h"

namespace convlab {

/// What a plan is made for, and what follows from that before any steps.
struct PlanRequest {
  const Graph& graph;
  const DeviceCaps& caps;
  const PlanOptions& options;
  std::vector<Shape> shapes;                  ///< by ValueId, as infer_shapes() gives them
  std::vector<const ConvKernel*> candidates;  ///< for convolutions: see candidates()
  Readers readers;                            ///< of the graph
  std::vector<Layout> layouts;                ///< besides plain, for values between steps: see inner_layouts()

  const Shape& shape_of(ValueId value) const { return shapes[static_cast<size_t>(value)]; }
};

}  // namespace convlab
