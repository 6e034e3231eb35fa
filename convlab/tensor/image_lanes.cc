// Copies images between nchw and nchw16n in float32 (Layout::image_lanes).

#include "convlab/tensor/image_lanes.h"

#include <algorithm>
#include <limits>

namespace convlab {
namespace {

/// Returns the nchw16n index of element `plain` of an nchw array with `elements` elements per image.
size_t index_of(int64_t plain, int64_t elements) {
  const int64_t image = plain / elements, block = image / kImageLanes;
  return static_cast<size_t>((block * elements + plain % elements) * kImageLanes + image % kImageLanes);
}

}  // namespace

Tensor to_image_lanes(const Tensor& images) {
  const std::span<const float> from = images.values<float>();
  Tensor lanes(ElementType::f32, {element_count(images.shape(), Layout::image_lanes)});
  const std::span<float> to = lanes.values<float>();
  std::ranges::fill(to, std::numeric_limits<float>::quiet_NaN());
  const int64_t elements = images.count() / images.shape()[0];
  for (size_t i = 0; i < from.size(); ++i) to[index_of(static_cast<int64_t>(i), elements)] = from[i];
  return lanes;
}

std::vector<float> from_image_lanes(std::span<const float> lanes, const Shape& shape) {
  std::vector<float> images(static_cast<size_t>(element_count(shape)));
  const int64_t elements = std::ssize(images) / shape[0];
  for (size_t i = 0; i < images.size(); ++i) images[i] = lanes[index_of(static_cast<int64_t>(i), elements)];
  return images;
}

}  // namespace convlab
