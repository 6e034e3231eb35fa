// Copies images between nchw and nchw16n2c in bf16 (Layout::lane_pairs and split_lane_pairs).

#include "convlab/tensor/lane_pairs.h"

#include <bit>
#include <limits>

#include "convlab/base/bf16.h"

namespace convlab {
namespace {

struct Sizes {
  Sizes(const Shape& shape, Layout layout)
      : channels(shape[1]),
        pixels(image_element_count(shape) / shape[1]),
        plane(pixels * round_up(shape[1], 2) * kImageLanes),
        parts(layout == Layout::split_lane_pairs ? 2 : 1) {}

  /// Returns the index of element `plain` of the nchw array, rounded to bf16. Its residual, if any, is `plane` later.
  size_t at(int64_t plain) const {
    const int64_t image = plain / (channels * pixels), channel = plain / pixels % channels, pixel = plain % pixels;
    const int64_t pair = pixel * ceil_div(channels, 2) + channel / 2;
    return static_cast<size_t>(image / kImageLanes * plane * parts + (pair * kImageLanes + image % kImageLanes) * 2 +
                               channel % 2);
  }
  /// Whether an element of the array belongs to a channel; otherwise it is padding.
  bool exists(int64_t element) const {
    return element / (2 * kImageLanes) % ceil_div(channels, 2) * 2 + element % 2 < channels;
  }

  int64_t channels, pixels, plane, parts;
};

}  // namespace

Tensor to_lane_pairs(const Tensor& images, Layout layout) {
  Tensor pairs(ElementType::f16, {element_count(images.shape(), layout)});  // bf16 bits; f16 has the same size
  const std::span<uint16_t> to = pairs.values<uint16_t>();
  const Sizes sizes(images.shape(), layout);
  for (int64_t i = 0; i < std::ssize(to); ++i) {
    to[static_cast<size_t>(i)] = sizes.exists(i) ? to_bf16(std::numeric_limits<float>::quiet_NaN()) : 0;
  }
  for (int64_t i = 0; i < images.count(); ++i) {
    const float value = images.values<float>()[static_cast<size_t>(i)];
    const uint16_t high = to_bf16(value);
    to[sizes.at(i)] = high;
    if (sizes.parts > 1) to[sizes.at(i) + static_cast<size_t>(sizes.plane)] = to_bf16(value - from_bf16(high));
  }
  return pairs;
}

std::vector<float> from_lane_pairs(std::span<const uint16_t> pairs, const Shape& shape, Layout layout) {
  const Sizes sizes(shape, layout);
  for (int64_t i = 0; i < std::ssize(pairs); ++i) {
    if (sizes.exists(i) || pairs[static_cast<size_t>(i)] == 0) continue;
    throw wrong_result("padding element {} of an nchw16n2c array must be 0, got {}", i,
                       from_bf16(pairs[static_cast<size_t>(i)]));
  }
  std::vector<float> images(static_cast<size_t>(element_count(shape)));
  for (int64_t i = 0; i < std::ssize(images); ++i) {
    const uint16_t high = pairs[sizes.at(i)];
    float& to = images[static_cast<size_t>(i)];
    to = high == 0xffff ? std::bit_cast<float>(0xffffffffu) : from_bf16(high);
    if (sizes.parts > 1 && high != 0xffff) to += from_bf16(pairs[sizes.at(i) + static_cast<size_t>(sizes.plane)]);
  }
  return images;
}

}  // namespace convlab
