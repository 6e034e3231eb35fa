#pragma once

#include "convlab/plan/request.h"

namespace convlab {

// Plans that keep quantized values in Layout::channel_bytes: see rewrite/quantized.h. What is not quantized gets plain
// copies, made once.

/// Whether an operator is one of those that know only bytes.
bool is_of_bytes(const Op& op);

/// Whether a graph has any.
bool has_bytes(const Graph& graph);

/// Whether a value is read by such an operator, perhaps after others that move levels without changing them.
bool is_read_as_bytes(const PlanRequest& request, ValueId value);

/// Whether an array that was written with one shape is the same in bytes under another: that of images of one pixel.
bool same_in_bytes(const Shape& written, const Shape& shape);

}  // namespace convlab
