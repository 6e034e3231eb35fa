// Copies images between nchw and nchw8c in float32 (Layout::channel_lanes).

#include "convlab/tensor/channel_lanes.h"

#include <algorithm>
#include <limits>

namespace convlab {
namespace {

/// Calls move(index in the nchw array, index in the nchw8c array) for each element.
template <class Move>
void for_each_lane(const Shape& shape, const Move& move) {
  const int64_t channels = shape[1], pixels = shape[2] * shape[3];
  const int64_t image = round_up(channels, kChannelLanes) * pixels;
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        const int64_t block = c / kChannelLanes * pixels + pixel;
        move(static_cast<size_t>((n * channels + c) * pixels + pixel),
             static_cast<size_t>(n * image + block * kChannelLanes + c % kChannelLanes));
      }
    }
  }
}

}  // namespace

Tensor to_channel_lanes(const Tensor& images) {
  const std::span<const float> from = images.values<float>();
  Tensor lanes(ElementType::f32, {element_count(images.shape(), Layout::channel_lanes)});
  const std::span<float> to = lanes.values<float>();
  std::ranges::fill(to, std::numeric_limits<float>::quiet_NaN());
  for_each_lane(images.shape(), [&](size_t plain, size_t lane) { to[lane] = from[plain]; });
  return lanes;
}

std::vector<float> from_channel_lanes(std::span<const float> lanes, const Shape& shape) {
  std::vector<float> images(static_cast<size_t>(element_count(shape)));
  for_each_lane(shape, [&](size_t plain, size_t lane) { images[plain] = lanes[lane]; });
  return images;
}

}  // namespace convlab
