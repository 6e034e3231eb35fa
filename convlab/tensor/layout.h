#pragma once

#include <cstdint>
#include <string_view>

#include "convlab/base/checked.h"
#include "convlab/tensor/element_type.h"
#include "convlab/tensor/shape.h"

namespace convlab {

/// The memory order of a batch; the first dimension counts its images. Every layout but plain implies its element type.
/// For a 2-D shape, the second dimension counts the channels of one pixel.
///
/// plain: nchw, row-major.
/// image_lanes: nchw16n, float32, for CPUs: [ceil(n / 16)][element of an image][16 images], so that a vector register
///   holds the same element of several images. The last block has its full size; its lanes beyond n may hold anything,
///   including NaN. An image's elements keep their order, so that Flatten and Reshape of images copy nothing.
/// channel_blocks: nchw8c, float16, for GPUs: image after image, [block][h][w][8 channels], so that a pixel's block is
///   the 16 bytes of one row of a tensor core operand. The last block is [h][w][4] if at most 4 channels are left.
///   Padding channels are zero. An image has a multiple of 64 elements (128 bytes); the padding is zero.
/// channel_lanes: nchw8c, float32, for CPUs: image after image, [c / 8][h][w][8 channels], so that a vector holds
///   several channels of a pixel and concatenated channels are contiguous. The number of channels is a multiple of 8.
///   With one pixel per image, this order equals nchw.
/// channel_bytes: nhwc, uint8, for CPUs. Each pixel is padded by up to 3 bytes of any value to a multiple of 4 bytes:
///   instructions multiply and sum four channels at once. int8 values are shifted up by 128, and so are their zero
///   points (see rewrite/quantized.h).
/// channel_halves: nhwc, bfloat16, for CPUs. The number of channels is a multiple of 8: adjacent channels are the
///   bf16x2 pairs that instructions multiply and sum at once, and a pixel is a row of their operand. Images of one
///   pixel use nchw instead.
/// channels_last: nhwc, float16, for GPUs; otherwise as channel_halves. channels_last_floats: the same in float32.
/// lane_pairs: nchw16n2c, bfloat16, for CPUs: blocks of 16 images, each [h][w][ceil(c / 2)][16 images][2 channels], for
///   instructions that multiply bf16x2 pairs. Padding channels are zero; lanes beyond n may hold anything.
/// split_lane_pairs: as lane_pairs, each block twice: the elements rounded to bfloat16, then the rounding residuals.
enum class Layout {
  plain,
  image_lanes,
  channel_blocks,
  channel_lanes,
  channel_bytes,
  channel_halves,
  channels_last,
  channels_last_floats,
  lane_pairs,
  split_lane_pairs
};

constexpr std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::plain:
      return "plain arrays";
    case Layout::image_lanes:
      return "images in lanes";
    case Layout::channel_blocks:
      return "channels in blocks";
    case Layout::channel_lanes:
      return "channels in lanes";
    case Layout::channel_bytes:
      return "channels in bytes";
    case Layout::channel_halves:
      return "channels in halves";
    case Layout::channels_last:
      return "channels last";
    case Layout::channels_last_floats:
      return "floats with channels last";
    case Layout::lane_pairs:
      return "pairs in lanes";
    case Layout::split_lane_pairs:
      return "split pairs in lanes";
  }
  return "?";
}

inline constexpr int64_t kImageLanes = 16;
inline constexpr int64_t kChannelLanes = 8;  ///< channels in a block of nchw8c, or 16-bit nhwc channels in 16 bytes
inline constexpr int64_t kChannelBytes = 4;  ///< channels that one instruction multiplies and sums

/// Whether the layout interleaves blocks of 16 images.
constexpr bool has_image_lanes(Layout layout) {
  return layout == Layout::image_lanes || layout == Layout::lane_pairs || layout == Layout::split_lane_pairs;
}

/// Whether the layout is nhwc with a multiple of 8 channels. Images of one pixel use nchw instead.
constexpr bool has_pixel_rows(Layout layout) {
  return layout == Layout::channel_halves || layout == Layout::channels_last || layout == Layout::channels_last_floats;
}

/// Whether an image's elements are in nchw order, so that the image can be reshaped without a copy.
constexpr bool keeps_order(Layout layout) { return layout == Layout::plain || layout == Layout::image_lanes; }

/// Returns the bytes of one element in this layout. `plain` is the element type of Layout::plain.
constexpr size_t size_in(Layout layout, ElementType plain) {
  if (layout == Layout::plain) return size_of(plain);
  if (layout == Layout::channel_bytes) return 1;
  const bool floats =
      layout == Layout::image_lanes || layout == Layout::channel_lanes || layout == Layout::channels_last_floats;
  return floats ? 4 : 2;
}

/// Returns the image stride in Layout::channel_blocks, in elements.
inline int64_t channel_blocks_stride(const Shape& shape) {
  int64_t pixels = 1;
  for (size_t i = 2; i < shape.size(); ++i) pixels = checked_mul(pixels, shape[i]);
  return round_up(checked_mul(round_up(shape[1], 4), pixels), 64);
}

/// Returns the number of elements of an array of this shape, including lanes beyond n and padding. shape[0] is n,
/// except with Layout::plain.
inline int64_t element_count(const Shape& shape, Layout layout) {
  if (layout == Layout::plain) return element_count(shape);
  if (layout == Layout::channel_blocks) return checked_mul(shape[0], channel_blocks_stride(shape));
  Shape blocks = shape;
  if (layout == Layout::channel_lanes || layout == Layout::channel_bytes || has_pixel_rows(layout)) {
    blocks[1] = round_up(shape[1], layout == Layout::channel_bytes ? kChannelBytes : kChannelLanes);
    return element_count(blocks);
  }
  blocks[0] = round_up(shape[0], kImageLanes);
  if (layout != Layout::image_lanes) blocks[1] = round_up(shape[1], 2);
  return checked_mul(element_count(blocks), layout == Layout::split_lane_pairs ? 2 : 1);
}

/// Returns the bytes of an array of this shape and layout. `plain` is the element type of Layout::plain.
inline int64_t layout_bytes(const Shape& shape, Layout layout, ElementType plain = ElementType::f32) {
  return checked_mul(element_count(shape, layout), static_cast<int64_t>(size_in(layout, plain)));
}

}  // namespace convlab
