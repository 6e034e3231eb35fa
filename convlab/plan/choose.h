#pragma once

#include "convlab/plan/draft.h"
#include "convlab/plan/plan.h"
#include "convlab/plan/request.h"

namespace convlab {

/// The third pass: chooses the kernel of each step, the preferred one or that of options.choices, and explains why
/// other kernels are not used. Locations in the plan are not set yet. Throws Error(unavailable) that lists the nodes
/// without a kernel, or Error(bad_input) if options.choices are for other steps.
Plan choose(const PlanRequest& request, const Draft& draft);

}  // namespace convlab
