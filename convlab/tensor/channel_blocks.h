#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convlab/tensor/layout.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Returns the element index of (channel, pixel) within an image in Layout::channel_blocks. The image has `channels`
/// channels of `pixels` pixels each.
inline int64_t channel_blocks_index(int64_t channels, int64_t pixels, int64_t channel, int64_t pixel) {
  const int64_t block = channel / 8, width = channels - block * 8 <= 4 ? 4 : 8;
  return block * 8 * pixels + pixel * width + channel % 8;
}

/// Copies nchw float32 images {n, channels, ...} to Layout::channel_blocks: float16 elements, rounded to nearest even.
Tensor to_channel_blocks(const Tensor& images);

/// Copies an array in Layout::channel_blocks back to nchw images of this shape. Throws Error(wrong_result) if a padding
/// element is not zero.
std::vector<float> from_channel_blocks(std::span<const uint16_t> blocks, const Shape& shape);

}  // namespace convlab
