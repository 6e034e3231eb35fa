#pragma once

#include <vector>

#include "convlab/model/onnx/onnx_recipe.h"
#include "convlab/model/onnx/onnx_value.h"
#include "convlab/model/op.h"

namespace convlab {

// Sizes that may depend on the batch size, as operators of the graph express them.

/// Returns the operator that reshapes x to these sizes. A size that depends on the batch size is kept from x (0) or
/// inferred (-1).
ReshapeOp reshape_to(const std::vector<OnnxSize>& sizes, const OnnxValue& x);

/// Adds the value broadcast to these sizes. Some of them may be multiples of the batch size.
OnnxRecipe::Value add_expansion(OnnxRecipe& recipe, OnnxRecipe::Value value, const std::vector<OnnxSize>& sizes);

}  // namespace convlab
