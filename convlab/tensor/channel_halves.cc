#include "convlab/tensor/channel_halves.h"

#include <algorithm>
#include <bit>

#include "convlab/base/bf16.h"

namespace convlab {
namespace {

/// Calls move(where an element lies in the plain array, where it lies in halves) for each element.
template <class Move>
void for_each_half(const Shape& shape, const Move& move) {
  const int64_t channels = shape[1], pixels = shape[2] * shape[3], step = round_up(channels, kChannelLanes);
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        move(static_cast<size_t>((n * channels + c) * pixels + pixel),
             static_cast<size_t>((n * pixels + pixel) * step + c));
      }
    }
  }
}

}  // namespace

Tensor to_channel_halves(const Tensor& images) {
  constexpr uint16_t kNan = 0x7fc0;
  const std::span<const float> from = images.values<float>();
  Tensor halves(ElementType::f16, {element_count(images.shape(), Layout::channel_halves)});
  const std::span<uint16_t> to = halves.values<uint16_t>();
  std::ranges::fill(to, kNan);
  for_each_half(images.shape(), [&](size_t plain, size_t half) { to[half] = to_bf16(from[plain]); });
  return halves;
}

std::vector<float> from_channel_halves(std::span<const uint16_t> halves, const Shape& shape) {
  std::vector<float> images(static_cast<size_t>(element_count(shape)));
  for_each_half(shape, [&](size_t plain, size_t half) {
    // All bits set are what nobody has written (see verify/compare.h); it stays so.
    images[plain] = halves[half] == 0xffff ? std::bit_cast<float>(0xffffffffu) : from_bf16(halves[half]);
  });
  return images;
}

}  // namespace convlab
