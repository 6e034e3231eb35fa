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
  ConvStep step;                           ///< as much of the fused step as the kernel computes
  std::vector<const ConvKernel*> fitting;  ///< all kernels that would compute just that, this one among them
};

/// The kernels that may compute the convolution, which is number `place` of the plan: all candidates, or the one that
/// is chosen for it. Error(bad_input) where that choice is for another convolution, or for a kernel that is no
/// candidate.
std::vector<const ConvKernel*> kernels_for(const PlanRequest& request, const FusedConv& fused, size_t place);

/// Error(bad_input) unless the step, number `place` of the plan's convolutions, is the one that was chosen for.
void require_chosen_step(const PlanRequest& request, const std::string& name, size_t place);

/// The first of kernels_for() that computes the convolution at all, with as much of its epilogue as it takes. Its input
/// lies in `x_layout`, and may be taken as pixels if `pixels`. Also all others that would compute just the same.
/// If there is none, Error(unavailable) with all refusals, or Error(bad_input) if a kernel was asked for or chosen.
ConvChoice choose(const PlanRequest& request, const FusedConv& fused, size_t place, bool pixels, Layout x_layout);

/// Why each other kernel of the device does not compute this step, in the registry's order.
std::vector<Refused> refused_besides(const PlanRequest& request, const ConvChoice& choice);

}  // namespace convlab
