#pragma once

#include <bit>
#include <cstdint>

/// CUDA's conversions between numbers, with rounding modes (rn to nearest even, rd down, ru up, rz towards zero), and
/// between numbers and their bits.
namespace convlab::simt::cuda {

/// A number that the integer type does not have becomes the nearest one that it has. NaN becomes 0 if both types have
/// 32 bits, otherwise the integer with only the highest bit set.
#define CONVLAB_SIMT_TO_INTEGER(From, I, name) \
  [[gnu::const]] I name##_rn(From) noexcept;   \
  [[gnu::const]] I name##_rd(From) noexcept;   \
  [[gnu::const]] I name##_ru(From) noexcept;   \
  [[gnu::const]] I name##_rz(From) noexcept;

CONVLAB_SIMT_TO_INTEGER(float, int, __float2int)
CONVLAB_SIMT_TO_INTEGER(float, unsigned, __float2uint)
CONVLAB_SIMT_TO_INTEGER(float, long long, __float2ll)
CONVLAB_SIMT_TO_INTEGER(float, unsigned long long, __float2ull)
CONVLAB_SIMT_TO_INTEGER(double, int, __double2int)
CONVLAB_SIMT_TO_INTEGER(double, unsigned, __double2uint)
CONVLAB_SIMT_TO_INTEGER(double, long long, __double2ll)
CONVLAB_SIMT_TO_INTEGER(double, unsigned long long, __double2ull)

#undef CONVLAB_SIMT_TO_INTEGER

#define CONVLAB_SIMT_FROM_INTEGER(From, T, name)                    \
  inline T name##_rn(From x) noexcept { return static_cast<T>(x); } \
  [[gnu::const]] T name##_rd(From) noexcept;                        \
  [[gnu::const]] T name##_ru(From) noexcept;                        \
  [[gnu::const]] T name##_rz(From) noexcept;

CONVLAB_SIMT_FROM_INTEGER(int, float, __int2float)
CONVLAB_SIMT_FROM_INTEGER(unsigned, float, __uint2float)
CONVLAB_SIMT_FROM_INTEGER(long long, float, __ll2float)
CONVLAB_SIMT_FROM_INTEGER(unsigned long long, float, __ull2float)
CONVLAB_SIMT_FROM_INTEGER(double, float, __double2float)
CONVLAB_SIMT_FROM_INTEGER(long long, double, __ll2double)
CONVLAB_SIMT_FROM_INTEGER(unsigned long long, double, __ull2double)

#undef CONVLAB_SIMT_FROM_INTEGER

constexpr double __int2double_rn(int x) { return x; }
constexpr double __uint2double_rn(unsigned x) { return x; }

constexpr int __float_as_int(float x) { return std::bit_cast<int>(x); }
constexpr unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
constexpr float __int_as_float(int x) { return std::bit_cast<float>(x); }
constexpr float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
constexpr long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
constexpr double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
/// The upper and lower 32 bits of a double.
constexpr int __double2hiint(double x) { return static_cast<int>(std::bit_cast<uint64_t>(x) >> 32); }
constexpr int __double2loint(double x) { return static_cast<int>(std::bit_cast<uint64_t>(x)); }
constexpr double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(static_cast<uint64_t>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low));
}

}  // namespace convlab::simt::cuda
