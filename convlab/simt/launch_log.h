#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/diagnostics/finding.h"
#include "convlab/simt/vector_types.h"
#include "convlab/simt/where.h"

namespace convlab::simt {

/// Launches of one kernel at one line with one shape.
struct PastLaunches {
  std::string kernel;  ///< "tile_kernel<16>"
  SourcePlace place;   ///< of the launch
  cuda::dim3 grid, block;
  int64_t count = 0;
};

/// Returns the launches that ended since the last call, in order, at most 1000 different ones.
std::vector<PastLaunches> take_launches();

namespace internal {

struct Grid;

/// Called after each launch without faults.
void log_launch(const Grid& grid, const Where& where);

}  // namespace internal
}  // namespace convlab::simt
