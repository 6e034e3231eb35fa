#pragma once

#include <cstdint>
#include <vector>

#include "convlab/model/shapes.h"

namespace convlab {

/// The taps of each output position along an axis: input elements and their weights. A position outside the range that
/// tf_crop_and_resize reads has none.
struct ResizeTaps {
  std::vector<int64_t> first;  ///< start of each position's elements, and the end of the last
  std::vector<int64_t> elements;
  std::vector<float> weights;

  int64_t begin(int64_t place) const { return first[static_cast<size_t>(place)]; }
  int64_t end(int64_t place) const { return first[static_cast<size_t>(place) + 1]; }
  bool outside(int64_t place) const { return begin(place) == end(place); }
};

/// Returns the taps along an input axis of `size` elements. With SampleMode::nearest, each position has one tap of
/// weight 1.
ResizeTaps resize_taps(const ResizeOp& op, const ResizedAxis& axis, int64_t size);

}  // namespace convlab
