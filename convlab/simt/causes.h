#pragma once

#include <vector>

#include "convlab/simt/fault.h"

namespace convlab::simt::internal {

/// Puts a barrier that some threads do not reach first, and drops the faults of a block that follow from it, and those
/// that the same missing barrier explains as another one.
void keep_causes(std::vector<Fault>& faults);

}  // namespace convlab::simt::internal
