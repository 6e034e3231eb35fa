#pragma once

#include <optional>

#include "convlab/simt/grid.h"
#include "convlab/warps/kernel_counts.h"

namespace convlab::simt::internal {

/// Returns the counts of a finished launch by source line; nullopt if its kernel is not compiled for counting.
std::optional<KernelCounts> counts_of(const Grid& grid);

}  // namespace convlab::simt::internal
