#pragma once

#include <cstdint>
#include <string_view>

#include "convlab/base/checked.h"
#include "convlab/tensor/element_type.h"
#include "convlab/tensor/shape.h"

namespace convlab {

/// How the elements of a batch lie in memory; its images are the first dimension. All but plain imply their type.
///
/// plain: row-major, image after image.
/// image_lanes: float32, for CPUs: blocks of 16 images, and of a block the first element of each image, then the second
///   of each: [ceil(n / 16)][element of an image][16], so that a vector register holds the same element of several
///   images. The last block is there in full; its lanes beyond n hold anything, also NaN. Since an image's elements
///   keep their order, Flatten and Reshape of images move nothing.
/// channel_blocks: float16, for GPUs: image after image, and of an image blocks of 8 channels, [block][h][w][8], so
///   that a pixel's block is the 16 bytes that a tensor core's row of operands takes; the last block is [h][w][4] where
///   no more than 4 channels are left. Channels that do not exist are zero. An image takes a multiple of 64 elements
///   (128 bytes), the rest zero. Of a shape of two dimensions, the second are the channels of one pixel.
/// channel_lanes: float32, for CPUs: image after image, and of an image blocks of 8 channels, [c / 8][h][w][8], so that
///   vectors hold a pixel of several channels, and channels that are joined lie one after another. The number of
///   channels is a multiple of 8. With one pixel an image it is the plain order.
/// channel_bytes: uint8, for CPUs: image after image, and of an image its pixels, row after row, each with all its
///   channels, and up to 3 bytes that hold anything, so that a pixel begins at a multiple of 4 bytes: four channels are
///   what instructions multiply and sum at once. Levels of int8 are moved up by 128, and so are their zero points (see
///   rewrite/quantized.h). Of a shape of two dimensions, the second are the channels of one pixel.
/// channel_halves: bfloat16, for CPUs: image after image, and of an image its pixels, row after row, each with all its
///   channels, whose number is a multiple of 8: neighbouring channels are the pairs that instructions multiply and sum
///   at once, and a pixel is a row of an operand of theirs. Of images of one pixel, the plain order is used instead.
/// channels_last: float16, for GPUs: as channel_halves. channels_last_floats: the same of float32.
/// lane_pairs: bfloat16, for CPUs: blocks of 16 images, and of a block [h][w][ceil(c / 2)][16 images][2 channels], what
///   instructions take that multiply pairs of bfloat16. A channel that does not exist is zero; lanes beyond n hold
///   anything. Of a shape of two dimensions, the second are the channels of one pixel.
/// split_lane_pairs: the same twice for each block: the elements as the nearest bfloat16, then what these lack.
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
inline constexpr int64_t kChannelLanes = 8;  ///< rows of pixels have as many in a vector of 16 bytes
inline constexpr int64_t kChannelBytes = 4;  ///< of Layout::channel_bytes, that are multiplied together

/// Whether elements lie in blocks of 16 images.
constexpr bool has_image_lanes(Layout layout) {
  return layout == Layout::image_lanes || layout == Layout::lane_pairs || layout == Layout::split_lane_pairs;
}

/// Whether a pixel's channels, a multiple of 8, lie side by side, and images of one pixel are plain instead.
constexpr bool has_pixel_rows(Layout layout) {
  return layout == Layout::channel_halves || layout == Layout::channels_last || layout == Layout::channels_last_floats;
}

/// Whether an image's elements lie in the order of its plain ones, so that they may be given another shape.
constexpr bool keeps_order(Layout layout) { return layout == Layout::plain || layout == Layout::image_lanes; }

/// Bytes of one element of an array in this layout, if it is of `plain` where it is plain.
constexpr size_t size_in(Layout layout, ElementType plain) {
  if (layout == Layout::plain) return size_of(plain);
  if (layout == Layout::channel_bytes) return 1;
  const bool floats =
      layout == Layout::image_lanes || layout == Layout::channel_lanes || layout == Layout::channels_last_floats;
  return floats ? 4 : 2;
}

/// Elements from one image in Layout::channel_blocks to the next.
inline int64_t channel_blocks_stride(const Shape& shape) {
  int64_t pixels = 1;
  for (size_t i = 2; i < shape.size(); ++i) pixels = checked_mul(pixels, shape[i]);
  return round_up(checked_mul(round_up(shape[1], 4), pixels), 64);
}

/// Elements that an array of this shape takes, those of lanes beyond n and of padding included. shape[0] is n unless
/// plain.
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

/// Bytes of an array of this shape and layout, of `plain` elements where it is plain.
inline int64_t layout_bytes(const Shape& shape, Layout layout, ElementType plain = ElementType::f32) {
  return checked_mul(element_count(shape, layout), static_cast<int64_t>(size_in(layout, plain)));
}

}  // namespace convlab
