#pragma once

#include <cstdint>

namespace convlab {

// Conversions between nchw and nchw16n, 16 images at a time.

/// Interleaves images: to[j * 16 + i] = images[i][j] for j in [0, count) and 16 images, of uint8 (converted to float,
/// or unchanged) or float.
void to_lanes(const uint8_t* const* images, int64_t count, float* to);
void to_lanes(const uint8_t* const* images, int64_t count, uint8_t* to);
void to_lanes(const float* const* images, int64_t count, float* to);

/// The reverse, for the first `wanted` images, or all 16 if `wanted` is larger: to[i * image_step + j] = from[j * 16 +
/// i].
void from_lanes(const float* from, int64_t count, float* to, int64_t image_step, int64_t wanted);

// Conversions between nchw and nchw8c, 8 channels at a time, `map_step` floats apart.

/// to[j * 8 + i] = maps[i * map_step + j] for j in [0, count).
void maps_to_lanes(const float* maps, int64_t map_step, int64_t count, float* to);

/// The reverse: maps[i * map_step + j] = from[j * 8 + i].
void lanes_to_maps(const float* from, int64_t count, float* maps, int64_t map_step);

}  // namespace convlab
