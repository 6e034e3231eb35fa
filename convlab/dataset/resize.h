#pragma once

#include <cstdint>
#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab {

class ThreadPool;

/// The largest side to which resized() scales.
inline constexpr int64_t kMostSide = 4096;

/// Scales images (uint8, N x C x H x W) to N x C x side x side as the course does. The result is byte for byte that of
/// scikit-image for each H x W plane:
///   (resize(plane / 256.0, (side, side), order=1, mode="constant", cval=0, anti_aliasing=False) * 256).astype(uint8)
/// that is, bilinear interpolation between pixel centers, zeros around the image, then truncation. Images that already
/// have this size are copied. Throws Error(bad_input) unless side is 1 to kMostSide and the result fits into half of
/// the memory that the process may use.
Tensor resized(const Tensor& images, int64_t side, ThreadPool& threads);

/// Same as resized(), without the checks. `from` has `shape`, N x C x H x W; `to` has room for N * C * side * side
/// pixels.
void resize_maps(const uint8_t* from, const Shape& shape, int64_t side, uint8_t* to, ThreadPool& threads);

/// For each output index of one dimension, the index of the first of its two inputs, in a plane padded with one zero on
/// each side, and the weights of both. The arithmetic is that of scipy.ndimage.zoom(..., order=1, mode="grid-constant",
/// grid_mode=True), which scikit-image calls (scipy/ndimage/src/ni_interpolation.c and ni_splines.c). It must match
/// exactly: the last step truncates, so a weight that differs in its last bit changes some pixels.
struct ResizeTaps {
  std::vector<int64_t> first;
  std::vector<double> weight0, weight1;

  ResizeTaps(int64_t size, int64_t side);
};

}  // namespace convlab
