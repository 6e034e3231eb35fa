#pragma once

#include <vector>

#include "convlab/model/graph.h"
#include "convlab/plan/plan.h"
#include "convlab/rewrite/fold.h"

namespace convlab {

/// A graph as plans of a mode read it, and what became of its chains of linear operators where the mode folds them.
struct PlannedGraph {
  Graph graph;
  std::vector<Folding> foldings;
};

/// Simplifies a graph, has what is quantized computed on bytes, and folds it, as the mode says, on so many threads.
/// Errors as simplified().
PlannedGraph planned_graph(Graph graph, InputShapes inputs, PlanMode mode, int threads);

}  // namespace convlab
