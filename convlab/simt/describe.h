#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/simt/fault.h"

/// From what a worker noticed to what a person reads: names, lines and remedies.
namespace convlab::simt::internal {

struct Grid;
class Module;
struct RawFault;
struct Site;

/// The faults of one of the grid's blocks, causes before what may follow from them.
std::vector<Fault> describe(const Grid& grid, const std::vector<RawFault>& raw, int64_t block);

/// "tile_kernel<16>".
std::string kernel_name_of(const Grid& grid);

/// Where a site of a kernel is in the source, as far as that is known.
SourcePlace place_of(const Module& module, const Site& site);

}  // namespace convlab::simt::internal
