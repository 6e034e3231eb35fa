#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "convlab/plan/request.h"

namespace convlab {

/// Nodes that scale images by gates computed from their means (squeeze-and-excitation), as one step: see
/// SqueezeExciteOp.
struct SqueezeExcite {
  SqueezeExciteOp op;
  std::vector<ValueId> inputs;
  ValueId output = -1;
  std::vector<size_t> nodes;  ///< their indices in the graph
  std::string name;           ///< names of all nodes, joined by '+'
};

/// Returns the squeeze-and-excitation that begins with the mean at node index `mean`. Returns nullopt if other nodes
/// follow, or if a node outside it reads an intermediate value.
std::optional<SqueezeExcite> squeeze_excite_from(const PlanRequest& request, size_t mean);

}  // namespace convlab
