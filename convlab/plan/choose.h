#pragma once

#include <vector>

#include "convlab/plan/fused_conv.h"
#include "convlab/plan/plan.h"
#include "convlab/plan/request.h"

namespace convlab {

/// Returns the kernels that may compute the convolutions of a plan, best first: only options.kernel if it is set;
/// otherwise all kernels of the device that are precise enough, except libraries, which must be requested by name.
/// Throws Error(bad_input) if options.kernel does not exist or is less precise than options.math.
std::vector<const Kernel*> candidates(const DeviceCaps& caps, const PlanOptions& options);

struct ConvChoice {
  const Kernel* kernel;
  ConvStep step;                       ///< the part of the fused step that the kernel computes
  std::vector<const Kernel*> fitting;  ///< all kernels that would compute exactly this step, including `kernel`
};

/// Returns the kernels that may compute the plan's convolution number `place`: all candidates, or the one that
/// options.choices selects. Throws Error(bad_input) if that choice is for another convolution, or its kernel is not a
/// candidate.
std::vector<const Kernel*> kernels_for(const PlanRequest& request, const FusedConv& fused, size_t place);

/// Throws Error(bad_input) unless options.choices has this step name for the plan's convolution number `place`.
void require_chosen_step(const PlanRequest& request, const std::string& name, size_t place);

/// Returns the first of kernels_for() that computes the convolution, with as much of its epilogue as it supports, and
/// all others that would compute the same step. The input has this format; if it is uint8 pixels, a kernel that does
/// not read them gets a float32 copy. If no kernel fits, throws Error(unavailable) with all reasons, or
/// Error(bad_input) if a kernel was requested or chosen.
ConvChoice choose(const PlanRequest& request, const FusedConv& fused, size_t place, Format x_format);

/// Returns why each other kernel of the device does not compute this step, in the registry's order.
std::vector<Refused> refused_besides(const PlanRequest& request, const ConvChoice& choice);

}  // namespace convlab
