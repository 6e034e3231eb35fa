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

// Between the maps of an image and Layout::channel_lanes, 8 maps at a time, `map_step` floats from map to map.

/// to[j * 8 + i] = maps[i * map_step + j] for j in [0, count).
void maps_to_lanes(const float* maps, int64_t map_step, int64_t count, float* to);

/// The reverse: maps[i * map_step + j] = from[j * 8 + i].
void lanes_to_maps(const float* from, int64_t count, float* maps, int64_t map_step);

}  // namespace convlab
