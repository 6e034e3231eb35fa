#pragma once

#include <vector>

#include "convlab/plan/request.h"

namespace convlab {

// In which formats other than nchw a plan keeps values between its steps. Steps that cannot use them get nchw copies.
//
// A plan that keeps channels keeps values in one format of channels, which suits networks with many channels: on a CPU
// nchw8c or, in bf16, nhwc; on a GPU nhwc, in fp16 or fp32. Concatenated channels are written directly to their final
// offset.
//
// A plan of a quantized graph keeps 8-bit values in nhwc4 uint8: see rewrite/rewrite_to_bytes.h.
//
// Any other plan keeps a value in one of reader_formats() if all nodes that read it can: see reader_formats.h.

/// Returns the format of a plan that keeps channels, or nchw if the options do not allow such a plan.
Format channel_format(const PlanRequest& request);

/// Whether a plan keeps channels by default: if it can, and most of the arithmetic is in convolutions with at least 16
/// input and output channels.
bool keeps_channels(const PlanRequest& request);

/// Whether values of this shape fit the formats of channels.
bool fits_channels(const Shape& shape);

/// Whether images of this shape have one pixel. nchw8c then equals nchw, and nhwc is not used.
inline bool one_pixel(const Shape& shape) { return shape.size() == 4 && shape[2] == 1 && shape[3] == 1; }

/// Whether a plan that keeps channels keeps values of this shape so.
inline bool keeps(const PlanRequest& request, const Shape& shape) {
  return fits_channels(shape) && !(request.channels.order == Order::nhwc && one_pixel(shape));
}

/// Whether an operator exists only for nhwc4 uint8.
bool is_of_bytes(const Op& op);

/// Whether a graph has such an operator.
bool has_bytes(const Graph& graph);

/// Whether such an operator reads the value, possibly through others that move quantized values unchanged.
bool is_read_as_bytes(const PlanRequest& request, ValueId value);

/// Whether an array in nhwc4 has the same order under another shape: equal shapes, or images of one pixel.
bool same_in_bytes(const Shape& written, const Shape& shape);

}  // namespace convlab
