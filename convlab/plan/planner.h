#pragma once

#include <string>

#include "convlab/device/device.h"
#include "convlab/model/graph.h"
#include "convlab/plan/plan.h"
#include "convlab/plan/plan_options.h"

namespace convlab {

/// Returns the plan of a graph that simplified() has returned: place(choose(assign_formats(fuse(...)))). Throws
/// Error(bad_input) if shapes do not fit, a forced kernel does not exist or does not support a convolution, or
/// options.choices do not fit; Error(unavailable) if no kernel of the device computes a step.
Plan make_plan(const Graph& graph, InputShapes inputs, const DeviceCaps& caps, const PlanOptions& options);

/// Returns what each pass decided, for people: the possible fusions of each node, the formats of each step, the kernels
/// that can compute it, and its arrays' locations. Errors as in make_plan().
std::string passes_text(const Graph& graph, InputShapes inputs, const DeviceCaps& caps, const PlanOptions& options);

}  // namespace convlab
