#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convlab/kernels/conv_step.h"
#include "convlab/plan/request.h"

namespace convlab {

/// A convolution and the nodes fused with it, in the order of their computation.
struct FusedConv {
  ConvStep step;
  ValueId output = -1;
  std::vector<size_t> nodes;  ///< their indices in the graph, the convolution first
  std::string conv_name, pool_name, activation_name;
  ValueId added = -1;  ///< with step.adds: the value that is added, and the name of the node that adds it
  std::string added_name;

  /// Returns the names of the nodes in `epilogue`, which is the step's epilogue or a part of it.
  std::string name_with(const Epilogue& epilogue) const;
};

/// Returns the fused convolution that begins at node index `conv`. In mode layers, fuses no other node. Does not fuse
/// pooling with windows that share rows, or anything after such pooling.
FusedConv fused_conv_from(const PlanRequest& request, size_t conv);

}  // namespace convlab
