#pragma once

#include <cstdint>
#include <vector>

#include "convlab/model/shapes.h"

namespace convlab {

/// What each place of an output's axis is made of: the elements of the input's axis, and their weights. A place that
/// lies outside what tf_crop_and_resize may see has no elements.
struct ResizeTaps {
  std::vector<int64_t> first;  ///< by place where its elements begin, and one more
  std::vector<int64_t> elements;
  std::vector<float> weights;

  int64_t begin(int64_t place) const { return first[static_cast<size_t>(place)]; }
  int64_t end(int64_t place) const { return first[static_cast<size_t>(place) + 1]; }
  bool outside(int64_t place) const { return begin(place) == end(place); }
};

/// The taps along an axis of `size` elements; one of weight 1 each for nearest.
ResizeTaps resize_taps(const ResizeOp& op, const ResizedAxis& axis, int64_t size);

}  // namespace convlab
