#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/kernels/step.h"
#include "convlab/plan/request.h"

namespace convlab {

// The first pass: which nodes one step may compute. The next pass uses the first fusion for which there is a kernel.

/// The formats in which a fusion is to be computed: see kept_formats.h.
enum class Kept { bytes, channels, any };

std::string_view name_of(Kept kept);

/// Nodes that one step may compute: a node and those that follow it.
struct Fusion {
  std::string_view pattern;  ///< "convolution + addition": what is fused; "" for a node alone
  Kept kept = Kept::any;
  std::vector<size_t> nodes;    ///< their indices in the graph; the step runs in place of the first
  Step step;                    ///< formats are nchw: the next pass sets them
  std::vector<ValueId> inputs;  ///< in the order of step.inputs
  ValueId output = -1;
  std::string name;  ///< of the first node
  std::string pool_name, added_name, activation_name;

  /// Returns the names of the nodes, joined by '+', that a step with a part of the epilogue computes.
  std::string name_with(const Epilogue& epilogue) const;
};

/// Returns the fusions that begin at each node, preferred ones first; the last is the node alone or, of a convolution,
/// one whose epilogue can be computed by separate steps. Empty for nodes that only reshape. Does not fuse anything in
/// mode layers, and does not fuse pooling with windows that share rows, except in plans that keep channels.
std::vector<std::vector<Fusion>> fuse(const PlanRequest& request);

/// Returns a line for each node: "conv1: convolution + pooling + activation (conv1+pool1+tanh1)".
std::string to_text(const std::vector<std::vector<Fusion>>& fusions);

}  // namespace convlab
