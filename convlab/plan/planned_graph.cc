// Prepares a graph for the planner.

#include "convlab/plan/planned_graph.h"

#include <utility>

#include "convlab/device/thread_pool.h"
#include "convlab/rewrite/rewrite_to_bytes.h"
#include "convlab/rewrite/simplify.h"

namespace convlab {

PlannedGraph planned_graph(Graph graph, InputShapes inputs, PlanMode mode, int threads) {
  if (mode != PlanMode::layers) rewrite_to_bytes(graph, inputs);
  PlannedGraph planned{.graph = simplified(std::move(graph), inputs, mode != PlanMode::layers)};
  if (mode == PlanMode::folded) {
    ThreadPool pool(threads);
    planned.foldings = fold_linear(planned.graph, inputs, pool);
  }
  return planned;
}

}  // namespace convlab
