#pragma once

#include <vector>

#include "convlab/plan/fused_conv.h"
#include "convlab/plan/request.h"

namespace convlab {

/// The kernels that may compute the convolutions of a plan, the best first: if options.kernel names one, only that;
/// otherwise all of the device that are precise enough, without libraries (they are asked for by name).
/// Error(bad_input) where the named kernel does not exist or is less precise than options.math.
std::vector<const ConvKernel*> candidates(const DeviceCaps& caps, const PlanOptions& options);

struct ConvChoice {
  const ConvKernel* kernel;
  ConvStep step;  ///< as much of the fused step as the kernel computes
};

/// The first candidate that computes the convolution at all, with as much of its epilogue as it takes. Its input lies
/// in `x_layout`, and may be taken as pixels if `pixels`. If there is none, Error(unavailable) with all refusals, or
/// Error(bad_input) if a kernel was asked for.
ConvChoice choose(const PlanRequest& request, const FusedConv& fused, bool pixels, Layout x_layout);

/// Why each other kernel of the device does not compute this step, in the registry's order.
std::vector<Refused> refused_besides(const PlanRequest& request, const ConvChoice& choice);

}  // namespace convlab
