#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "convlab/model/graph.h"
#include "convlab/model/onnx/onnx_node.h"
#include "convlab/model/onnx/onnx_recipe.h"

namespace convlab {

/// An operator of the graph. The first `operands` inputs of the node are its operands; the others were constants and
/// are now part of the operator.
struct OnnxComputed {
  Op op;
  size_t operands = 1;
  std::optional<int32_t> type = std::nullopt;  ///< ONNX type of the result; nullopt: the first operand's
};

/// The node only passes its first input on, as this ONNX type: a constant is converted, a computed value is unchanged.
struct OnnxPassed {
  int32_t type;
};

/// The node is a constant for a given batch size.
using OnnxTrial = ByTrial<Tensor>;

/// The translation of a node: an operator of the graph, several of them, a constant, or the node's first input.
using OnnxMeaning = std::variant<OnnxComputed, OnnxRecipe, Tensor, OnnxTrial, OnnxPassed>;

/// Translates one kind of node. Throws Error(bad_input) with only the reason.
using OnnxReader = OnnxMeaning (*)(const OnnxNode&);

}  // namespace convlab
