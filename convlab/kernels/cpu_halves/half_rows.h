#pragma once

#include <cstdint>

namespace convlab {

// Copies between float32 and bfloat16.

void floats_to_halves(const float* from, int64_t count, uint16_t* to);
void halves_to_floats(const uint16_t* from, int64_t count, float* to);

/// `count` neighbouring pixels of plain maps that lie plane_step apart, as pixels of channels to_step apart; channels
/// up to to_channels that do not exist are zero. Pixels that are bytes stay what they are, exactly.
void maps_to_pixels(const float* from, int64_t plane_step, int64_t channels, int64_t count, uint16_t* to,
                    int64_t to_step, int64_t to_channels);
void maps_to_pixels(const uint8_t* from, int64_t plane_step, int64_t channels, int64_t count, uint16_t* to,
                    int64_t to_step, int64_t to_channels);

/// The reverse, without channels that do not exist.
void pixels_to_maps(const uint16_t* from, int64_t from_step, int64_t channels, int64_t count, float* to,
                    int64_t plane_step);

}  // namespace convlab
