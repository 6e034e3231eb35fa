#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/simt/fault.h"

/// Turns what workers detected into readable findings with names, source lines, and help.
namespace convlab::simt::internal {

struct Grid;
class Module;
struct RawFault;
struct Site;

/// Returns the faults of one of the grid's blocks, causes before their possible consequences.
std::vector<Fault> describe(const Grid& grid, const std::vector<RawFault>& raw, int64_t block);

/// Returns "tile_kernel<16>".
std::string kernel_name_of(const Grid& grid);

/// Returns the source line of a site in a kernel, as far as it is known.
SourcePlace place_of(const Module& module, const Site& site);

}  // namespace convlab::simt::internal
