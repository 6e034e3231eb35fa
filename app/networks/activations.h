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

/// Where and how a network's layers are computed, one at a time.
struct LayerMachine {
  Device& device;
  PlanOptions plan;  ///< its mode is PlanMode::layers
};

/// All values that a network computes, by name.
using Activations = std::map<std::string, Tensor>;

/// Returns the outputs of all nodes, and the inputs, for these inputs, which are in the graph's order. `graph` must be
/// simplified as for PlanMode::layers. Errors are those of ReadyModel.
Activations activations_of(const Graph& graph, std::span<const Tensor> inputs, const LayerMachine& machine);

/// Reads the .npy files of a folder; their names without the extension are the keys.
Activations recorded_activations(const std::string& folder);

/// Returns the relative L2 error that a correct result in this math may have if sums are short.
double class_limit(Math math);

/// The result of run_node(), which computes one node alone. `inputs` are the values of its distinct non-constant
/// inputs, in order.
struct NodeRun {
  Tensor output;
  Math math;         ///< of its kernel
  double limit = 0;  ///< the relative L2 error that a correct kernel in that math may have here
};
NodeRun run_node(const Graph& graph, const Node& node, std::span<const Tensor> inputs, const LayerMachine& machine);

}  // namespace convlab::app
