#pragma once

#include <vector>

#include "convlab/model/graph.h"
#include "convlab/plan/plan_options.h"
#include "convlab/rewrite/fold.h"

namespace convlab {

/// A graph as the planner reads it, and what happened to its chains of linear operators if the mode folds them.
struct PlannedGraph {
  Graph graph;
  std::vector<Folding> foldings;
};

/// Simplifies a graph for a mode, rewrites its quantized parts to operators on bytes, and folds it with this number of
/// threads. Throws the same errors as simplified().
PlannedGraph planned_graph(Graph graph, InputShapes inputs, PlanMode mode, int threads);

}  // namespace convlab
