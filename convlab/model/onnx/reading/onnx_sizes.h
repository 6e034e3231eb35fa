#pragma once

#include <vector>

#include "convlab/model/onnx/reading/onnx_recipe.h"
#include "convlab/model/onnx/reading/onnx_value.h"
#include "convlab/model/op.h"

namespace convlab {

// Sizes that may depend on the number of images, as operators of the graph have them.

/// The operator that gives x these sizes: what depends on the number of images is taken from x, or is what is left.
ReshapeOp reshape_to(const std::vector<OnnxSize>& sizes, const OnnxValue& x);

/// The value broadcast to these sizes, of which some may be multiples of the number of images.
OnnxRecipe::Value add_expansion(OnnxRecipe& recipe, OnnxRecipe::Value value, const std::vector<OnnxSize>& sizes);

}  // namespace convlab
