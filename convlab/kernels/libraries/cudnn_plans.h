#pragma once

#include <string>
#include <vector>

#include "convlab/kernels/libraries/cudnn_graph.h"

namespace convlab::cudnn {

/// One of the library's engines, configured, and ready to compute a graph.
struct Plan {
  std::string engine;  ///< "12" or "12 with knobs 2=3 18=0"
  Descriptor configuration, descriptor;
};

/// What the library's heuristics propose for a graph, the most promising first, as far as it keeps to a class of
/// arithmetic and works within so much scratch memory. Where there is none, `reason` says what stood against the last.
std::vector<Plan> plans_for(const Library& library, cudnnHandle_t handle, const ConvGraph& graph, Math math,
                            size_t workspace_bytes, std::string& reason);

}  // namespace convlab::cudnn
