#pragma once

#include <cstdint>
#include <vector>

#include "convlab/simt/fault.h"

/// Turns what workers detected into readable findings with names, source lines, and help.
namespace convlab::simt::internal {

struct Grid;
struct RawFault;

/// Returns the faults of one of the grid's blocks, causes before their possible consequences.
std::vector<Fault> describe(const Grid& grid, const std::vector<RawFault>& raw, int64_t block);

}  // namespace convlab::simt::internal
