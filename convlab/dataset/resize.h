#pragma once

#include <cstdint>
#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab {

class ThreadPool;

/// The largest side that resized() scales to.
inline constexpr int64_t kMostSide = 4096;

/// Images (uint8, N x C x H x W) scaled to N x C x side x side as the course scaled them, byte for byte what
/// scikit-image gives for each H x W map:
///   (resize(map / 256.0, (side, side), order=1, mode="constant", cval=0, anti_aliasing=False) * 256).astype(uint8)
/// that is, bilinearly between the centres of pixels, zeros around the image, then truncated. Maps that have this size
/// already stay as they are. Error(bad_input) unless side is 1 to kMostSide and the result fits into half of the memory
/// that the process may use.
Tensor resized(const Tensor& images, int64_t side, ThreadPool& threads);

/// The same where it is known to fit: of pixels of this shape to element_count({N, C, side, side}) pixels.
void resize_maps(const uint8_t* from, const Shape& shape, int64_t side, uint8_t* to, ThreadPool& threads);

/// For each output of one dimension, the first of its two inputs, counted in a map with a zero on each side, and the
/// weights of both. The arithmetic is that of scipy.ndimage.zoom(..., order=1, mode="grid-constant", grid_mode=True),
/// which scikit-image calls (scipy/ndimage/src/ni_interpolation.c and ni_splines.c): the last step truncates, so a
/// weight that differs in its last bit gives another pixel here and there.
struct ResizeTaps {
  std::vector<int64_t> first;
  std::vector<double> weight0, weight1;

  ResizeTaps(int64_t size, int64_t side);
};

}  // namespace convlab
