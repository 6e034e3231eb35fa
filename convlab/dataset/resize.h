#pragma once

#include <cstdint>

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

}  // namespace convlab
