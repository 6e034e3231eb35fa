#pragma once

#include <array>
#include <cstdint>

#include "convlab/tensor/format.h"

namespace convlab {

// One level of Strassen's matrix multiplication, in Winograd's variant, for `nchw16n` images (see cpu/lanes.h):
//
//   | C11 C12 |   | A11 A12 |   | B11 B12 |        S1 = A21 + A22   S2 = S1 - A11   S3 = A11 - A21   S4 = A12 - S2
//   |         | = |         | * |         |        T1 = B12 - B11   T2 = B22 - T1   T3 = B22 - B12   T4 = T2 - B21
//   | C21 C22 |   | A21 A22 |   | B21 B22 |
//
//   P1 = A11 B11   P2 = A12 B21   P3 = S4 B22   P4 = A22 T4   P5 = S1 T1   P6 = S2 T2   P7 = S3 T3
//
//   C11 = P1 + P2   C12 = P1 + P6 + P5 + P3   C21 = P1 + P6 + P7 - P4   C22 = P1 + P6 + P7 + P5
//
// Seven products instead of eight, and 15 additions: Winograd, "On multiplication of 2 x 2 matrices", 1971.

inline constexpr int64_t kStrassenProducts = 7;

/// Per lane, the bits of the largest magnitude, as integers: they are ordered as the magnitudes, with NaN above all.
using Largest = std::array<int32_t, kImageLanes>;

/// Computes to = a - b for `pixels` pixels. `to` may be a or b. Updates the largest magnitudes of a and b, unless null.
void subtract_pixels(const float* a, const float* b, int64_t pixels, float* to, Largest* of_a, Largest* of_b);

/// Computes C for `pixels` pixels from the seven sums P, `step` floats apart. An image of zeros gets zeros, although it
/// shares additions with another image. `left` are the largest magnitudes of B11 and B21, `right` those of B12 and B22.
struct StrassenQuadrants {
  const float* sums = nullptr;
  int64_t step = 0;
  int64_t pixels = 0;
  float *c11 = nullptr, *c12 = nullptr, *c21 = nullptr, *c22 = nullptr;
  const Largest *left = nullptr, *right = nullptr;
};

void add_strassen(const StrassenQuadrants& job);

}  // namespace convlab
