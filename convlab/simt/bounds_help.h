#pragma once

#include <string>

#include "convlab/diagnostics/finding.h"
#include "convlab/simt/fault.h"

namespace convlab::simt::internal {

struct Grid;
struct RawFault;
struct Target;

/// Returns what to do about an access of a block outside of an array in global memory.
std::string bounds_help(const Grid& grid, const RawFault& raw, const Target& target, const Position& block);

/// Returns the line of the launch, with its grid and block: "grid (10,36,4) x block (16,16,1): blockIdx goes up to
/// (9,35,3)".
Label launch_label(const Grid& grid);

/// The same for an access past the end of dynamic shared memory: "launched with 1024 bytes of dynamic shared memory;
/// this access needs 1028".
Label dynamic_shared_label(const Grid& grid, const RawFault& raw);

}  // namespace convlab::simt::internal
