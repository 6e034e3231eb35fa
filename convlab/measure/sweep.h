#pragma once

#include <span>
#include <vector>

#include "convlab/kernels/kernel.h"

namespace convlab {

/// Returns every combination of the tunables' values, the last tunable varying fastest. Without tunables: one empty
/// combination.
std::vector<std::vector<int>> tuning_grid(std::span<const Tunable> tunables);

}  // namespace convlab
