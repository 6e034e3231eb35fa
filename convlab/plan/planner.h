#pragma once

#include "convlab/device/device.h"
#include "convlab/model/graph.h"
#include "convlab/plan/options.h"
#include "convlab/plan/plan.h"

namespace convlab {

/// Returns the plan of a graph that simplified() has returned. Throws Error(bad_input) if shapes do not fit, a forced
/// kernel does not exist or does not support a convolution, or options.choices do not fit; Error(unavailable) if no
/// kernel of the device computes a step.
Plan make_plan(const Graph& graph, InputShapes inputs, const DeviceCaps& caps, const PlanOptions& options);

}  // namespace convlab
