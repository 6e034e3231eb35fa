#pragma once

#include <cstddef>
#include <vector>

#include "convlab/kernels/kernel.h"
#include "convlab/model/graph.h"
#include "convlab/plan/choices.h"
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
  bool bytes = false;                         ///< values of 8 bits lie in Layout::channel_bytes: see bytes.h
  Layout channels = Layout::plain;     ///< the one that the plan keeps channels in instead, if any: see channels.h
  const PlanChoice* chosen = nullptr;  ///< of options.choices, for these shapes; null: the planner chooses

  /// Images of a batch: the first size of the first input; 0 where it has none.
  int64_t images() const {
    const Shape& input = shape_of(graph.inputs[0].value);
    return input.empty() ? 0 : input[0];
  }

  bool keeps_channels() const { return channels != Layout::plain; }

  const Shape& shape_of(ValueId value) const { return shapes[static_cast<size_t>(value)]; }
};

}  // namespace convlab
