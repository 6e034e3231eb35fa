#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/model/onnx/reading/onnx_node.h"
#include "convlab/model/onnx/reading/onnx_recipe.h"

namespace convlab {

/// An operator of the graph, and how many of the node's inputs are its operands: the first ones. The others were
/// constants and are now part of the operator.
struct OnnxComputed {
  Op op;
  size_t operands = 1;
  std::optional<int32_t> type = std::nullopt;  ///< ONNX's, of the result; none: as the first operand's
};

/// The node only passes on its first input, as this type of ONNX's: a constant is converted, a computed value stays
/// what it is.
struct OnnxPassed {
  int32_t type;
};

/// The node is a constant for a given number of images.
using OnnxTrial = ByTrial<Tensor>;

/// What a node means: an operator of the graph, several of them, a constant, or its own first input.
using OnnxMeaning = std::variant<OnnxComputed, OnnxRecipe, Tensor, OnnxTrial, OnnxPassed>;

/// Reads one kind of node. Error(bad_input) with the reason alone.
using OnnxReader = OnnxMeaning (*)(const OnnxNode&);

/// The reader of an operator of ONNX's own domain, or nullptr.
OnnxReader find_onnx_reader(std::string_view op_type);

/// The reader of an operator of ONNX Runtime's domain, com.microsoft, or nullptr.
OnnxReader find_microsoft_reader(std::string_view op_type);

/// All names that find_onnx_reader() knows, sorted.
std::vector<std::string_view> onnx_operators();

}  // namespace convlab
