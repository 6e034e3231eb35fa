#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convlab/plan/request.h"

namespace convlab {

/// A convolution and the nodes after it that join it, in the order in which they are computed.
struct FusedConv {
  ConvStep step;
  ValueId output = -1;
  std::vector<size_t> nodes;  ///< their places in the graph, the convolution's first
  std::string conv_name, pool_name, activation_name;
  ValueId added = -1;  ///< with step.adds: the value, and the name of the node that adds it
  std::string added_name;

  /// The names of the nodes in an epilogue that is the step's or a part of it.
  std::string name_with(const Epilogue& epilogue) const;
};

/// The fused convolution that begins in this place; no other node where the plan's mode is layers. It takes in no
/// pooling whose windows share rows, and nothing after one.
FusedConv fused_conv_from(const PlanRequest& request, size_t conv);

}  // namespace convlab
