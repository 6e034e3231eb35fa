#pragma once

#include "convlab/plan/request.h"

namespace convlab {

// Plans that keep quantized values in nhwc4 uint8: see rewrite/quantized.h. Other operators read nchw copies.
// Each copy is made once.

/// Whether an operator exists only for nhwc4 uint8.
bool is_of_bytes(const Op& op);

/// Whether a graph has such an operator.
bool has_bytes(const Graph& graph);

/// Whether such an operator consumes the value, possibly through others that move quantized values unchanged.
bool is_read_as_bytes(const PlanRequest& request, ValueId value);

/// Whether an array has the same byte order under another shape: equal shapes, or images of one pixel.
bool same_in_bytes(const Shape& written, const Shape& shape);

}  // namespace convlab
