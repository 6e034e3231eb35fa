#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "app/compute_options.h"
#include "convlab/device/device.h"
#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// Where and how a network's layers are computed, each by itself.
struct LayerMachine {
  Device& device;
  PlanOptions plan;  ///< its mode is PlanMode::layers
};

/// Every value that a network computes, by its name.
using Activations = std::map<std::string, Tensor>;

/// The values of all nodes, and the inputs', for these inputs, which are in the graph's order. The graph is as a plan
/// of PlanMode::layers reads it. Errors as of Executor.
Activations activations_of(const Graph& graph, std::span<const Tensor> inputs, const LayerMachine& machine);

/// The .npy files of a folder, by their names without the ending.
Activations recorded_activations(const std::string& folder);

/// The relative L2 error that a right result of this class may have, where sums are short.
double class_limit(Math math);

/// One node alone, for given values of its inputs that are no constants, in their order.
struct NodeRun {
  Tensor output;
  Math math;         ///< its kernel's
  double limit = 0;  ///< the relative L2 error that a right kernel of that class may have here
};
NodeRun run_node(const Graph& graph, const Node& node, std::span<const Tensor> inputs, const LayerMachine& machine);

}  // namespace convlab::app
