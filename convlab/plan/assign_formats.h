#pragma once

#include <vector>

#include "convlab/plan/draft.h"
#include "convlab/plan/fuse.h"
#include "convlab/plan/request.h"

namespace convlab {

/// The second pass: chooses fusions, and the format of each value. Uses at each node the first fusion that a kernel
/// computes in its formats; adds steps that convert values to another format and, for what a convolution's kernels do
/// not fuse, steps of its epilogue. All steps have kernels, except nodes that no kernel of the device computes even in
/// nchw. Throws Error(unavailable) if a convolution is such a node, or Error(bad_input) if its kernel was requested or
/// chosen, with all kernels' reasons; and the errors of conv_kernels_for().
Draft assign_formats(const PlanRequest& request, const std::vector<std::vector<Fusion>>& fusions);

}  // namespace convlab
