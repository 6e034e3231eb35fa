#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "convlab/plan/choose.h"
#include "convlab/plan/fused_conv.h"
#include "convlab/plan/request.h"

namespace convlab {

// Plans that keep values in Layout::channel_lanes or, in bf16, Layout::channel_halves on a CPU, or on a GPU
// in Layout::channels_last, in fp16, or else channels_last_floats: for networks of many channels.
// Every step that can reads and writes this layout; others are given plain copies. A convolution takes in what joins
// it, and channels that are concatenated are written where they belong.

/// The layout in which such a plan keeps values. Plain: the options do not allow for one.
Layout channel_layout(const PlanRequest& request);

/// Whether a plan does so unless it is told: if it can, and most of the arithmetic is in convolutions of at least 16
/// channels and maps.
bool keeps_channels(const PlanRequest& request);

/// Whether values of this shape can lie in either layout.
bool fits_channels(const Shape& shape);

/// Whether images of this shape have one pixel, so that Layout::channel_lanes is their plain order; rows of pixels are
/// not used for them.
inline bool one_pixel(const Shape& shape) { return shape.size() == 4 && shape[2] == 1 && shape[3] == 1; }

/// Whether a plan keeps values of this shape in its layout.
inline bool keeps(const PlanRequest& request, const Shape& shape) {
  return fits_channels(shape) && !(has_pixel_rows(request.channels) && one_pixel(shape));
}

/// The convolution in this place with its bias, then an addition of a value of the same shape that is `ready`, then an
/// activation; as far as nodes follow so.
FusedConv joined_conv_from(const PlanRequest& request, size_t conv, const std::function<bool(ValueId)>& ready);

/// The same with the max pooling that follows, if one does.
std::optional<FusedConv> pooled_conv(const PlanRequest& request, FusedConv fused);

/// The first of the kernels that computes all of this to the plan's layout, or to plain images of one pixel, from an
/// input in `x_layout`, and all others that do; or nullopt.
std::optional<ConvChoice> choose_to_channels(const PlanRequest& request, const std::vector<const ConvKernel*>& kernels,
                                             const FusedConv& fused, Layout x_layout);

/// A value's place among channels that are concatenated.
struct JointPlace {
  ValueId joint;    ///< the output of a Concat, whose array it is a part of
  int64_t channel;  ///< its first there
};

/// The places of values that are concatenated along their channels, and of outputs of Concat. Where a value belongs to
/// several, the last in the graph's order has it; what others concatenate may then be a part of that.
std::map<ValueId, JointPlace> joint_places(const PlanRequest& request);

}  // namespace convlab
