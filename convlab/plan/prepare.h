#pragma once

#include "convlab/plan/request.h"

namespace convlab {

/// Prepares the input of the passes: shapes, candidates, and in which formats the plan keeps values. Throws
/// Error(bad_input) if shapes do not fit, options.kernel is not a convolution kernel of the device, or options.choices
/// or options.channel_lanes do not fit. Graph, caps and options must outlive the result.
PlanRequest plan_request(const Graph& graph, InputShapes inputs, const DeviceCaps& caps, const PlanOptions& options);

}  // namespace convlab
