#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "convlab/plan/request.h"

namespace convlab {

/// Nodes that scale images by gates which their means make, as one step: see SqueezeExciteOp.
struct SqueezeExcite {
  SqueezeExciteOp op;
  std::vector<ValueId> inputs;
  ValueId output = -1;
  std::vector<size_t> nodes;  ///< their places in the graph
  std::string name;           ///< those of the nodes that the gate is made of, and of the one that scales
};

/// Those that begin with the mean in this place; nullopt: others than these follow, or what one gives is read
/// elsewhere, too.
std::optional<SqueezeExcite> squeeze_excite_from(const PlanRequest& request, size_t mean);

}  // namespace convlab
