// Copies images between nchw and nhwc (Layout::channel_halves, channels_last and channels_last_floats).

#include "convlab/tensor/pixel_rows.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "convlab/base/bf16.h"
#include "convlab/base/half.h"

namespace convlab {
namespace {

/// Calls move(index in the nchw array, index in the nhwc array) for each element.
template <class Move>
void for_each_element_of(const Shape& shape, const Move& move) {
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

Tensor to_pixel_rows(const Tensor& images, Layout layout) {
  if (layout == Layout::channels_last_floats) {
    Tensor rows(ElementType::f32, {element_count(images.shape(), layout)});
    std::ranges::fill(rows.values<float>(), std::numeric_limits<float>::quiet_NaN());
    for_each_element_of(images.shape(), [from = images.values<float>(), to = rows.values<float>()](
                                            size_t plain, size_t row) { to[row] = from[plain]; });
    return rows;
  }
  constexpr uint16_t kNan = 0x7fc0;  // in both fp16 and bf16
  const bool last = layout == Layout::channels_last;
  const std::span<const float> from = images.values<float>();
  Tensor rows(ElementType::f16, {element_count(images.shape(), layout)});
  const std::span<uint16_t> to = rows.values<uint16_t>();
  std::ranges::fill(to, kNan);
  for_each_element_of(images.shape(), [&](size_t plain, size_t half) {
    to[half] = last ? float_to_half(from[plain]) : to_bf16(from[plain]);
  });
  return rows;
}

std::vector<float> from_pixel_rows(std::span<const float> rows, const Shape& shape) {
  std::vector<float> images(static_cast<size_t>(element_count(shape)));
  for_each_element_of(shape, [&](size_t plain, size_t row) { images[plain] = rows[row]; });
  return images;
}

std::vector<float> from_pixel_rows(std::span<const uint16_t> rows, const Shape& shape, Layout layout) {
  const bool last = layout == Layout::channels_last;
  std::vector<float> images(static_cast<size_t>(element_count(shape)));
  for_each_element_of(shape, [&](size_t plain, size_t half) {
    // All bits set marks an element that was never written (see verify/compare.h). Keep the marker in float32.
    images[plain] = rows[half] == 0xffff ? std::bit_cast<float>(0xffffffffu)
                    : last               ? half_to_float(rows[half])
                                         : from_bf16(rows[half]);
  });
  return images;
}

}  // namespace convlab
