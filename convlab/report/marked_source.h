#pragma once

#include <string>
#include <vector>

#include "convlab/report/own_kernel.h"

namespace convlab {

/// Returns the file's text with line numbers and, next to each line, its shares of the kernel's global memory sectors
/// and shared memory wavefronts. Lessons follow below their line.
std::string marked_source(const OwnKernel& kernel, const std::vector<const SavedCounts*>& counts);

}  // namespace convlab
