#pragma once

#include <string>
#include <vector>

#include "convlab/kernels/libraries/cudnn_graph.h"

namespace convlab::cudnn {

/// A configured engine of the library, ready to compute a graph.
struct Plan {
  std::string engine;  ///< "12" or "12 with knobs 2=3 18=0"
  Descriptor configuration, descriptor;
};

/// Returns the engines that the library's heuristics propose for a graph, most promising first, if they comply with the
/// math class and need at most `workspace_bytes` of scratch. If there is none, `reason` says why the last one was
/// rejected.
std::vector<Plan> plans_for(const Library& library, cudnnHandle_t handle, const ConvGraph& graph, Math math,
                            size_t workspace_bytes, std::string& reason);

}  // namespace convlab::cudnn
