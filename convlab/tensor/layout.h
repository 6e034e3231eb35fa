#pragma once

#include <cstdint>

#include "convlab/tensor/shape.h"

namespace convlab {

/// How the elements of a batch lie in memory, the first dimension being its images.
///
/// plain: row-major, image after image. image_lanes: blocks of 16 images, and of a block the first element of each
/// image, then the second of each: [ceil(n / 16)][element of an image][16], so that a vector register holds the same
/// element of several images. The last block is there in full; its lanes beyond n hold anything, also NaN. Since an
/// image's elements keep their order, Flatten and Reshape of images move nothing in either layout.
enum class Layout { plain, image_lanes };

inline constexpr int64_t kImageLanes = 16;

/// Elements that an array of this shape takes, those of lanes beyond n included. shape[0] is n unless plain.
inline int64_t element_count(const Shape& shape, Layout layout) {
  if (layout == Layout::plain) return element_count(shape);
  Shape blocks = shape;
  blocks[0] = (shape[0] + kImageLanes - 1) / kImageLanes * kImageLanes;
  return element_count(blocks);
}

}  // namespace convlab
