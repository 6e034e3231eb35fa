#pragma once

#include <span>
#include <vector>

#include "convlab/kernels/kernel.h"

namespace convlab {

/// Every combination of the tunables' values, the last one varying fastest. Without tunables: one, empty.
std::vector<std::vector<int>> tuning_grid(std::span<const Tunable> tunables);

}  // namespace convlab
