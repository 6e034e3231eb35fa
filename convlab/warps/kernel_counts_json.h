#pragma once

#include <nlohmann/json_fwd.hpp>

#include "convlab/warps/kernel_counts.h"

namespace convlab {

/// Returns a kernel's counts as JSON: totals, lines with an example request each, branches that diverged, and lessons.
nlohmann::ordered_json to_json(const KernelCounts& counts);

}  // namespace convlab
