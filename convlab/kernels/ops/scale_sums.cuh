#pragma once

#include <algorithm>
#include <cmath>

#include "convlab/dataset/resize.h"
#include "convlab/device/cuda_compat.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// A pixel of cuda.scale is the sum of four weighted pixels, truncated. It is first computed in fp32, with every step
// rounded down, and read as the bits of 2^15 + sum: byte 1 is the whole part, byte 0 the fraction in 256ths.
//
// This sum is too small, by less than 1/256 for each of the two steps that add to 2^15, by 1.5 * 2^-23 of itself for
// each of the two weights in a product, and by 2^-23 of itself for each of the two steps that blend pixels of a row: in
// total by less than 2.04/256. So unless its fraction is 254/256 or more, it has the whole part of the exact sum. The
// host's sum then has the same whole part: its rounding errors in double are below 2^-42, and an exact sum of 1 or more
// is further above its whole part than that, because our weights reach the whole part although they are too small by at
// least 2^-25 of themselves. If all pixels are 0, so is the sum.
//
// Pixels are not converted. The bits of a byte, read as a float, are the number byte * 2^-149, an ordinary operand; the
// weights contain the missing power of two.
constexpr int kColumnScale = 127, kRowScale = 22;

/// An output's two inputs in one dimension, both inside the plane. Outside it, pixels are 0: such an input is replaced
/// by one inside with weight 0.
struct Inputs {
  int first;
  double before, after;
};

inline Inputs inputs_of(const ResizeTaps& taps, size_t output, int64_t size) {
  const int first = static_cast<int>(taps.first[output]) - 1;  // -1: outside
  const double before = taps.weight0[output], after = taps.weight1[output];
  if (first < 0) return {0, after, 0};
  if (first + 1 < size) return {first, before, after};
  if (size == 1) return {0, before, 0};
  return {first - 1, 0, before};
}

/// Weights as the host computes them.
struct alignas(32) ExactTap {
  double before, after;
  int first;
};
/// Weights times 2^scale, rounded to below the exact weight.
struct alignas(16) Tap {
  float before, after;
  int first;
};

inline Tap tap_of(const Inputs& inputs, int scale) {
  const auto below = [&](double weight) {
    return std::nextafterf(static_cast<float>(std::ldexp(weight, scale)), 0.0F);
  };
  return {below(inputs.before), below(inputs.after), inputs.first};
}

/// Returns the blend of two adjacent pixels of a row, times 2^-kRowScale.
inline __device__ float blend(uint32_t left, uint32_t right, const Tap& column) {
  return __fmaf_rd(__uint_as_float(left), column.before, __fmul_rd(__uint_as_float(right), column.after));
}

/// Returns the bits of 2^15 + sum, from the blends in two rows.
inline __device__ uint32_t sum_bits(float upper, float lower, const Tap& row) {
  return __float_as_uint(__fmaf_rd(lower, row.after, __fmaf_rd(upper, row.before, 32768)));
}

/// One byte for each of four sums: the whole part, and in the highest bit whether it is uncertain.
struct WholeParts {
  uint32_t values, doubts;
};
inline __device__ WholeParts whole_parts(const uint32_t (&sums)[4]) {
  const uint32_t first = __byte_perm(sums[0], sums[1], 0x5410), last = __byte_perm(sums[2], sums[3], 0x5410);
  const uint32_t fractions = __byte_perm(first, last, 0x6420);
  const uint32_t carries = (fractions & 0x7e7e7e7e) + 0x02020202;  // into bit 7, if bits 1 to 6 are set
  return {__byte_perm(first, last, 0x7531), carries & fractions & 0x80808080};
}

/// Returns the pixel as the host computes it: the products and sums of resized() in the same order, never contracted to
/// FMA. A product with weight 0 may read another pixel: it does not change the sum.
inline __device__ uint8_t pixel_in_double(const int (&upper)[2], const int (&lower)[2], const ExactTap& row,
                                          const ExactTap& column) {
  double sum = __dmul_rn(__dmul_rn(upper[0], row.before), column.before);
  sum = __dadd_rn(sum, __dmul_rn(__dmul_rn(upper[1], row.before), column.after));
  sum = __dadd_rn(sum, __dmul_rn(__dmul_rn(lower[0], row.after), column.before));
  sum = __dadd_rn(sum, __dmul_rn(__dmul_rn(lower[1], row.after), column.after));
  return static_cast<uint8_t>(static_cast<int>(sum));
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
