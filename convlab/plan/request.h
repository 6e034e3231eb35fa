#pragma once

#include <cstddef>
#include <vector>

#include "convlab/kernels/kernel.h"
#include "convlab/model/graph.h"
#include "convlab/plan/choices.h"
#include "convlab/plan/plan_options.h"
#include "convlab/rewrite/readers.h"

namespace convlab {

/// The planner's input, and what follows from it before the first pass. All passes read it.
struct PlanRequest {
  const Graph& graph;
  const DeviceCaps& caps;
  const PlanOptions& options;
  std::vector<Shape> shapes;                 ///< by ValueId, from infer_shapes()
  std::vector<const Kernel*> conv_kernels;   ///< those that may compute convolutions: see candidates.h
  std::vector<const Kernel*> other_kernels;  ///< those that may compute all other operators
  Readers readers;                           ///< of the graph's values
  Format channels = kNchw;                   ///< not nchw: a plan that keeps channels, see kept_formats.h
  bool bytes = false;                        ///< 8-bit values are in nhwc4 uint8
  std::vector<Format> reader_formats;        ///< in all other plans: see reader_formats()
  const PlanChoice* chosen = nullptr;        ///< from options.choices, for these shapes; null: the planner chooses

  /// Returns the batch size: the first size of the first input, or 0 if that is a scalar.
  int64_t images() const {
    const Shape& input = shape_of(graph.inputs[0].value);
    return input.empty() ? 0 : input[0];
  }

  bool keeps_channels() const { return channels.order != Order::nchw; }

  const Shape& shape_of(ValueId value) const { return shapes[static_cast<size_t>(value)]; }
};

}  // namespace convlab
