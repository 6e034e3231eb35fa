#pragma once

#include <string_view>
#include <vector>

#include "convlab/kernels/kernel.h"
#include "convlab/plan/plan.h"

namespace convlab {

/// The kernels that may compute the convolutions of a plan, the best first: those of options.kernel alone if it names
/// one; otherwise all of the device that are precise enough, libraries left out (they are asked for by name).
/// Error(bad_input) where the named kernel does not exist or is less precise than options.math.
std::vector<const ConvKernel*> candidates(const DeviceCaps& caps, const PlanOptions& options);

/// Why each other kernel of the device does not compute this step, in the registry's order.
std::vector<Refused> refused_besides(const ConvKernel& chosen, const ConvStep& step, const DeviceCaps& caps,
                                     const PlanOptions& options);

}  // namespace convlab
