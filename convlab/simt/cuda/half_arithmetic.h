#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "convlab/simt/worker.h"

/// The arithmetic and comparisons of fp16 and bf16 that their headers declare, for cuda_half.cc and cuda_bfloat16.cc.
namespace convlab::simt {

/// Returns a * b + c as a float that rounds to a narrower format as the exact sum would. The sum may need more bits
/// than double and float have: rounding both intermediate results to odd keeps the final rounding correct.
inline float fused_to_odd(float a, float b, float c) {
  const internal::Worker* const worker = internal::active_worker;
  if (worker != nullptr && worker->counting() != nullptr) worker->counting()->multiply_add();
  const double product = static_cast<double>(a) * b, addend = c;
  double sum = product + addend;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  auto to_odd = [](double value, double rest, double towards) {
    return rest != 0.0 && !(std::bit_cast<uint64_t>(value) & 1u) ? std::nextafter(value, towards) : value;
  };
  if (std::isfinite(sum)) sum = to_odd(sum, error, error > 0 ? HUGE_VAL : -HUGE_VAL);
  float narrow = static_cast<float>(sum);
  if (std::isfinite(narrow) && static_cast<double>(narrow) != sum && !(std::bit_cast<uint32_t>(narrow) & 1u)) {
    narrow = std::nextafter(narrow, sum > narrow ? HUGE_VALF : -HUGE_VALF);
  }
  return narrow;
}

/// Returns the larger number, or the other one if one of the two is NaN. -0 is less than +0.
template <class Half>
Half larger_number(Half a, Half b) {
  const float x = a, y = b;
  if (x != x) return y != y ? simt_nan(a) : b;
  if (x == y) return std::signbit(x) ? b : a;
  return y > x ? b : a;
}
template <class Half>
Half smaller_number(Half a, Half b) {
  return __hneg(larger_number(__hneg(a), __hneg(b)));
}

}  // namespace convlab::simt

// Float holds the product of two numbers of up to 11 bits exactly, and rounds the sum innocuously.
#define CONVLAB_SIMT_HALF_ARITHMETIC(HALF, HALF2)                                                                      \
  HALF __hadd(HALF a, HALF b) noexcept { return HALF(static_cast<float>(a) + static_cast<float>(b)); }                 \
  HALF __hsub(HALF a, HALF b) noexcept { return HALF(static_cast<float>(a) - static_cast<float>(b)); }                 \
  HALF __hmul(HALF a, HALF b) noexcept { return HALF(static_cast<float>(a) * static_cast<float>(b)); }                 \
  HALF __hfma(HALF a, HALF b, HALF c) noexcept { return HALF(fused_to_odd(a, b, c)); }                                 \
  HALF2 __hadd2(HALF2 a, HALF2 b) noexcept { return {__hadd(a.x, b.x), __hadd(a.y, b.y)}; }                            \
  HALF2 __hsub2(HALF2 a, HALF2 b) noexcept { return {__hsub(a.x, b.x), __hsub(a.y, b.y)}; }                            \
  HALF2 __hmul2(HALF2 a, HALF2 b) noexcept { return {__hmul(a.x, b.x), __hmul(a.y, b.y)}; }                            \
  HALF2 __hfma2(HALF2 a, HALF2 b, HALF2 c) noexcept { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }         \
  bool __hisnan(HALF a) noexcept { return std::isnan(static_cast<float>(a)); }                                         \
  HALF __hmax(HALF a, HALF b) noexcept { return larger_number(a, b); }                                                 \
  HALF __hmin(HALF a, HALF b) noexcept { return smaller_number(a, b); }                                                \
  HALF __hmax_nan(HALF a, HALF b) noexcept { return __hisnan(a) || __hisnan(b) ? simt_nan(a) : larger_number(a, b); }  \
  HALF __hmin_nan(HALF a, HALF b) noexcept { return __hisnan(a) || __hisnan(b) ? simt_nan(a) : smaller_number(a, b); } \
  CONVLAB_SIMT_HALF_COMPARISON(HALF, eq, ==)                                                                           \
  CONVLAB_SIMT_HALF_COMPARISON(HALF, lt, <)                                                                            \
  CONVLAB_SIMT_HALF_COMPARISON(HALF, le, <=)                                                                           \
  CONVLAB_SIMT_HALF_COMPARISON(HALF, gt, >)                                                                            \
  CONVLAB_SIMT_HALF_COMPARISON(HALF, ge, >=)                                                                           \
  bool __hne(HALF a, HALF b) noexcept { return !__hequ(a, b); }                                                        \
  bool __hneu(HALF a, HALF b) noexcept { return !__heq(a, b); }

#define CONVLAB_SIMT_HALF_COMPARISON(HALF, name, operation)                                                 \
  bool __h##name(HALF a, HALF b) noexcept { return static_cast<float>(a) operation static_cast<float>(b); } \
  bool __h##name##u(HALF a, HALF b) noexcept { return __hisnan(a) || __hisnan(b) || __h##name(a, b); }
