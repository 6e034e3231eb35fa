#pragma once

#include "convlab/plan/draft.h"
#include "convlab/plan/plan.h"

namespace convlab {

/// The last pass: assigns arena offsets to all arrays and workspaces, and sets the locations in the steps of the plan
/// that choose() made of this draft.
void place(const Draft& draft, Plan& plan);

}  // namespace convlab
