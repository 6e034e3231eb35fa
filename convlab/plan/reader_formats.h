#pragma once

#include <vector>

#include "convlab/plan/request.h"

namespace convlab {

/// Returns the formats other than nchw in which a plan that keeps neither channels nor bytes keeps values between its
/// steps if all nodes that read them support it; best first.
std::vector<Format> reader_formats(const PlanRequest& request);

/// Returns the format for a value that a step can write in any: the first of request.reader_formats that all nodes that
/// read the value support, or nchw.
Format format_for_readers(const PlanRequest& request, ValueId value);

}  // namespace convlab
