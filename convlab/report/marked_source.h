#pragma once

#include <string>
#include <vector>

#include "convlab/report/own_kernel.h"

namespace convlab {

/// The file's text with its lines' numbers, and beside each line its share of the global memory's sectors and of the
/// shared memory's wavefronts that the kernel takes; below a line what is to be learnt from it.
std::string marked_source(const OwnKernel& kernel, const std::vector<const SavedCounts*>& counts);

}  // namespace convlab
