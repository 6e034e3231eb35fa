#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/diagnostics/finding.h"

namespace convlab {

/// Launches of one kernel with one shape on simt.
struct SimtLaunches {
  SourcePlace place;    ///< of the launch
  std::string kernel;   ///< "tile_kernel<16>"
  std::string shape;    ///< "grid (5,1,1) x block (16,16,1)"
  int64_t threads = 0;  ///< of one launch
  int64_t count = 0;
};

/// Returns the launches on simt that ended since the last call: see simt::take_launches().
std::vector<SimtLaunches> take_simt_launches();

}  // namespace convlab
