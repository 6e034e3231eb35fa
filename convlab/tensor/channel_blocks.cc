// Copies images between nchw and nchw8c in fp16 (Layout::channel_blocks).

#include "convlab/tensor/channel_blocks.h"

#include <algorithm>

#include "convlab/base/half.h"

namespace convlab {
namespace {

/// Calls visit(index in the nchw array, index in the blocks) for each element.
template <class Visit>
void for_each_element(const Shape& shape, const Visit& visit) {
  const int64_t channels = shape[1], stride = channel_blocks_stride(shape);
  const int64_t pixels = element_count(shape) / std::max<int64_t>(1, shape[0] * channels);
  for (int64_t image = 0, plain = 0; image < shape[0]; ++image) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      for (int64_t pixel = 0; pixel < pixels; ++pixel, ++plain) {
        const int64_t block = image * stride + channel_blocks_index(channels, pixels, channel, pixel);
        visit(static_cast<size_t>(plain), static_cast<size_t>(block));
      }
    }
  }
}

}  // namespace

Tensor to_channel_blocks(const Tensor& images) {
  Tensor blocks(ElementType::f16, {element_count(images.shape(), Layout::channel_blocks)});
  const std::span<uint16_t> to = blocks.values<uint16_t>();
  const std::span<const float> from = images.values<float>();
  std::ranges::fill(to, uint16_t{0});
  for_each_element(images.shape(), [&](size_t plain, size_t block) { to[block] = float_to_half(from[plain]); });
  return blocks;
}

std::vector<float> from_channel_blocks(std::span<const uint16_t> blocks, const Shape& shape) {
  std::vector<float> images(static_cast<size_t>(element_count(shape)));
  std::vector<uint16_t> rest(blocks.begin(), blocks.end());
  for_each_element(shape, [&](size_t plain, size_t block) {
    images[plain] = half_to_float(blocks[block]);
    rest[block] = 0;
  });
  const auto wrong = std::ranges::find_if(rest, [](uint16_t bits) { return bits != 0; });
  if (wrong != rest.end()) {
    throw wrong_result("padding element {} of an nchw8c array must be 0, got {}", wrong - rest.begin(),
                       half_to_float(*wrong));
  }
  return images;
}

}  // namespace convlab
