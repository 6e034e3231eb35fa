#pragma once

#include <cstdint>

namespace convlab {

// Between plain images and Layout::image_lanes, 16 images at a time.

/// Pixels from images: to[j * 16 + i] = images[i][j] for j in [0, count) and 16 images, of uint8
/// (as floats, or as they are) or float.
void to_lanes(const uint8_t* const* images, int64_t count, float* to);
void to_lanes(const uint8_t* const* images, int64_t count, uint8_t* to);
void to_lanes(const float* const* images, int64_t count, float* to);

/// The reverse, for the first `wanted` images, or all where that is more: to[i * image_step + j] = from[j * 16 + i].
void from_lanes(const float* from, int64_t count, float* to, int64_t image_step, int64_t wanted);

}  // namespace convlab
