// Converts images to a step's layout, and outputs back to nchw.

#include "convlab/verify/layouts.h"

#include "convlab/tensor/channel_blocks.h"
#include "convlab/tensor/channel_lanes.h"
#include "convlab/tensor/image_lanes.h"
#include "convlab/tensor/lane_pairs.h"
#include "convlab/tensor/pixel_rows.h"

namespace convlab {
namespace {

template <class Element>
std::vector<Element> download(Stream& stream, const void* from, const Shape& shape, Layout layout) {
  std::vector<Element> elements(static_cast<size_t>(element_count(shape, layout)));
  stream.download(elements.data(), from, elements.size() * sizeof(Element));
  stream.synchronize();
  return elements;
}

}  // namespace

Tensor in_layout(const Tensor& images, Layout layout) {
  switch (layout) {
    case Layout::plain:
    case Layout::channel_bytes:  // never used for real numbers
      break;
    case Layout::image_lanes:
      return to_image_lanes(images);
    case Layout::channel_blocks:
      return to_channel_blocks(images);
    case Layout::channel_lanes:
      return to_channel_lanes(images);
    case Layout::channel_halves:
    case Layout::channels_last:
    case Layout::channels_last_floats:
      return to_pixel_rows(images, layout);
    case Layout::lane_pairs:
    case Layout::split_lane_pairs:
      return to_lane_pairs(images, layout);
  }
  return images.clone();
}

std::vector<float> download_plain(Stream& stream, const void* outputs, const Shape& shape, Layout layout) {
  switch (layout) {
    case Layout::plain:
    case Layout::channel_bytes:  // never used for real numbers
      break;
    case Layout::image_lanes:
      return from_image_lanes(download<float>(stream, outputs, shape, layout), shape);
    case Layout::channel_blocks:
      return from_channel_blocks(download<uint16_t>(stream, outputs, shape, layout), shape);
    case Layout::channel_lanes:
      return from_channel_lanes(download<float>(stream, outputs, shape, layout), shape);
    case Layout::channel_halves:
    case Layout::channels_last:
      return from_pixel_rows(download<uint16_t>(stream, outputs, shape, layout), shape, layout);
    case Layout::channels_last_floats:
      return from_pixel_rows(download<float>(stream, outputs, shape, layout), shape);
    case Layout::lane_pairs:
    case Layout::split_lane_pairs:
      return from_lane_pairs(download<uint16_t>(stream, outputs, shape, layout), shape, layout);
  }
  return download<float>(stream, outputs, shape, layout);
}

}  // namespace convlab
