#pragma once

#include <cstddef>
#include <vector>

#include "convlab/kernels/kernel.h"
#include "convlab/model/graph.h"
#include "convlab/plan/choices.h"
#include "convlab/plan/options.h"
#include "convlab/rewrite/readers.h"

namespace convlab {

/// The planner's input, and what follows from it before any step is planned.
struct PlanRequest {
  const Graph& graph;
  const DeviceCaps& caps;
  const PlanOptions& options;
  std::vector<Shape> shapes;              ///< by ValueId, from infer_shapes()
  std::vector<const Kernel*> candidates;  ///< for convolutions: see candidates()
  Readers readers;
  std::vector<Format> formats;         ///< other than nchw, for values between steps: see inner_formats()
  bool bytes = false;                  ///< 8-bit values are in nhwc4 uint8: see bytes.h
  Format channels = kNchw;             ///< the layout of a plan that keeps channels (see channels.h); otherwise plain
  const PlanChoice* chosen = nullptr;  ///< from options.choices, for these shapes; null: the planner chooses

  /// Returns the batch size: the first size of the first input, or 0 if that is a scalar.
  int64_t images() const {
    const Shape& input = shape_of(graph.inputs[0].value);
    return input.empty() ? 0 : input[0];
  }

  bool keeps_channels() const { return channels.order != Order::nchw; }

  const Shape& shape_of(ValueId value) const { return shapes[static_cast<size_t>(value)]; }
};

}  // namespace convlab
