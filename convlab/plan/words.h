#pragma once

#include <string>

#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/plan/plan.h"

namespace convlab {

// What people write for the choices of a plan. `name`: what they wrote it for, "--math", which messages say.

/// "fp32", "tf32", ... Error(bad_input) that lists them.
Math parse_math(const std::string& text, const std::string& name);

/// "layers", "fused" or "folded", likewise.
PlanMode parse_plan(const std::string& text, const std::string& name);

/// Error(unavailable) where no kernel of such devices computes convolutions so: who asks for faster, less precise
/// arithmetic wants to see that, and more precise arithmetic in its place would mislead.
void require_math(Math math, DeviceKind kind, const std::string& name);

}  // namespace convlab
