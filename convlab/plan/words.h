#pragma once

#include <string>

#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/plan/plan.h"

namespace convlab {

// Parse what users write for the options of a plan. Messages begin with `name`, the option, such as "--math".

/// Parses "fp32", "tf32", ... Throws Error(bad_input) that lists them.
Math parse_math(const std::string& text, const std::string& name);

/// Parses "layers", "fused" or "folded". Throws Error(bad_input) that lists them.
PlanMode parse_plan(const std::string& text, const std::string& name);

/// Throws Error(unavailable) if no convolution kernel of this kind of device computes in `math`. A user who requests
/// faster, less precise arithmetic wants to see its effect; more precise arithmetic instead would mislead.
void require_math(Math math, DeviceKind kind, const std::string& name);

}  // namespace convlab
