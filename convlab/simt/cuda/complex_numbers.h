#pragma once

#include <math.h>

#include "convlab/simt/vector_types.h"

/// The types and functions of cuComplex.h. A program has them if it includes that header, or one of a library that
/// does.
namespace convlab::simt::cuda {

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

// Division scales by the sum of the parts' sizes and the absolute value is that of hypot(), so that intermediate
// results do not overflow.
#define CONVLAB_SIMT_COMPLEX(Complex, T, f, hypotenuse, absolute)                                              \
  constexpr T cuCreal##f(Complex z) { return z.x; }                                                            \
  constexpr T cuCimag##f(Complex z) { return z.y; }                                                            \
  constexpr Complex make_##Complex(T real, T imaginary) { return {real, imaginary}; }                          \
  constexpr Complex cuConj##f(Complex z) { return {z.x, -z.y}; }                                               \
  constexpr Complex cuCadd##f(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; }                         \
  constexpr Complex cuCsub##f(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; }                         \
  constexpr Complex cuCmul##f(Complex a, Complex b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
  inline Complex cuCdiv##f(Complex a, Complex b) {                                                             \
    const T scale = 1 / (absolute(b.x) + absolute(b.y));                                                       \
    const T ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;                            \
    const T divisor = 1 / (bx * bx + by * by);                                                                 \
    return {(ax * bx + ay * by) * divisor, (ay * bx - ax * by) * divisor};                                     \
  }                                                                                                            \
  inline T cuCabs##f(Complex z) { return hypotenuse(z.x, z.y); }                                               \
  constexpr Complex cuCfma##f(Complex a, Complex b, Complex c) {                                               \
    return {a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y};                                         \
  }

CONVLAB_SIMT_COMPLEX(cuFloatComplex, float, f, ::hypotf, ::fabsf)
CONVLAB_SIMT_COMPLEX(cuDoubleComplex, double, , ::hypot, ::fabs)

#undef CONVLAB_SIMT_COMPLEX

constexpr cuComplex make_cuComplex(float real, float imaginary) { return {real, imaginary}; }
constexpr cuComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return {static_cast<float>(z.x), static_cast<float>(z.y)};
}
constexpr cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return {z.x, z.y}; }

}  // namespace convlab::simt::cuda
