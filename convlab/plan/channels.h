#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "convlab/plan/choose.h"
#include "convlab/plan/fused_conv.h"
#include "convlab/plan/request.h"

namespace convlab {

// Plans that keep values in one layout of channels: on a CPU nchw8c or, in bf16, nhwc; on a
// GPU nhwc, in fp16 or fp32. They suit networks with many channels. Every step that
// can do so reads and writes this layout; the others get nchw copies. A convolution fuses the nodes that follow it, and
// steps write concatenated channels directly to their final offset.

/// Returns the layout in which such a plan keeps values, or plain if the options do not allow such a plan.
Format channel_format(const PlanRequest& request);

/// Whether a plan keeps values in channel_format() by default: if it can, and most of the arithmetic is in convolutions
/// with at least 16 input and output channels.
bool keeps_channels(const PlanRequest& request);

/// Whether values of this shape fit these layouts.
bool fits_channels(const Shape& shape);

/// Whether images of this shape have one pixel. nchw8c then equals nchw, and the nhwc layouts are not
/// used.
inline bool one_pixel(const Shape& shape) { return shape.size() == 4 && shape[2] == 1 && shape[3] == 1; }

/// Whether a plan keeps values of this shape in its layout of channels.
inline bool keeps(const PlanRequest& request, const Shape& shape) {
  return fits_channels(shape) && !(request.channels.order == Order::nhwc && one_pixel(shape));
}

/// Returns the convolution at node index `conv` fused with its bias, then the addition of a value of the same shape
/// that is `ready`, then an activation, as far as nodes follow in this order.
FusedConv joined_conv_from(const PlanRequest& request, size_t conv, const std::function<bool(ValueId)>& ready);

/// Returns the same fused with the max pooling that follows; nullopt if that cannot be fused.
std::optional<FusedConv> pooled_conv(const PlanRequest& request, FusedConv fused);

/// Returns the first kernel that computes all of this from an input in `x_format` to the plan's layout (nchw for images
/// of one pixel), and all others that do; or nullopt.
std::optional<ConvChoice> choose_to_channels(const PlanRequest& request, const std::vector<const Kernel*>& kernels,
                                             const FusedConv& fused, Format x_format);

/// Where a value is stored within concatenated channels.
struct JointPlace {
  ValueId joint;    ///< the output of the Concat that contains it
  int64_t channel;  ///< its first channel there
};

/// Returns the places of values that are concatenated along their channels, and of the outputs of Concat. If several
/// Concat nodes consume a value, it belongs to the last one in graph order; the output of another Concat may then be a
/// part of that one's output.
std::map<ValueId, JointPlace> joint_places(const PlanRequest& request);

}  // namespace convlab
