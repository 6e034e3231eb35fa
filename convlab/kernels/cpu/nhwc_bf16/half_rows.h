#pragma once

#include <cstdint>

namespace convlab {

// Conversions between fp32 and bf16.

void floats_to_halves(const float* from, int64_t count, uint16_t* to);
void halves_to_floats(const uint16_t* from, int64_t count, float* to);

/// Converts `count` neighboring pixels of nchw planes, plane_step elements apart, to nhwc pixels, to_step elements
/// apart. Channels from `channels` to to_channels become zero. uint8 pixels are converted exactly.
void maps_to_pixels(const float* from, int64_t plane_step, int64_t channels, int64_t count, uint16_t* to,
                    int64_t to_step, int64_t to_channels);
void maps_to_pixels(const uint8_t* from, int64_t plane_step, int64_t channels, int64_t count, uint16_t* to,
                    int64_t to_step, int64_t to_channels);

/// The inverse of maps_to_pixels(); writes only the existing channels.
void pixels_to_maps(const uint16_t* from, int64_t from_step, int64_t channels, int64_t count, float* to,
                    int64_t plane_step);

}  // namespace convlab
