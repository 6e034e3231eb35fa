#pragma once

#include <array>
#include <cstdint>

#include "convlab/tensor/layout.h"

namespace convlab {

// Strassen's multiplication in Winograd's variant, one level of it, for images in lanes (see cpu/lanes.h):
//
//   | C11 C12 |   | A11 A12 |   | B11 B12 |        S1 = A21 + A22   S2 = S1 - A11   S3 = A11 - A21   S4 = A12 - S2
//   |         | = |         | * |         |        T1 = B12 - B11   T2 = B22 - T1   T3 = B22 - B12   T4 = T2 - B21
//   | C21 C22 |   | A21 A22 |   | B21 B22 |
//
//   P1 = A11 B11   P2 = A12 B21   P3 = S4 B22   P4 = A22 T4   P5 = S1 T1   P6 = S2 T2   P7 = S3 T3
//
//   C11 = P1 + P2   C12 = P1 + P6 + P5 + P3   C21 = P1 + P6 + P7 - P4   C22 = P1 + P6 + P7 + P5
//
// seven products instead of eight, and 15 additions: Winograd, "On multiplication of 2 x 2 matrices", 1971.

inline constexpr int64_t kStrassenProducts = 7;

/// By lane, the bits of the largest magnitude: integers that grow with it, and are larger still for NaN.
using Largest = std::array<int32_t, kImageLanes>;

/// to = a - b, for some pixels. to may be a or b. Notes their largest values, where wanted.
void subtract_pixels(const float* a, const float* b, int64_t pixels, float* to, Largest* of_a, Largest* of_b);

/// C of this many pixels from the seven sums P, which lie `step` floats apart. An image that is zero throughout gets
/// zeros, though it shares its additions with another: left are the images of B11 and B21, right the others.
struct StrassenQuadrants {
  const float* sums = nullptr;
  int64_t step = 0;
  int64_t pixels = 0;
  float *c11 = nullptr, *c12 = nullptr, *c21 = nullptr, *c22 = nullptr;
  const Largest *left = nullptr, *right = nullptr;
};

void add_strassen(const StrassenQuadrants& job);

}  // namespace convlab
