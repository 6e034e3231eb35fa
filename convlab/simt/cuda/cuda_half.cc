// Software fp16 arithmetic for kernels on the host.

#include "convlab/simt/cuda/cuda_half.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "convlab/base/half.h"
#include "convlab/simt/worker.h"

namespace convlab::simt::cuda {

uint16_t float_to_half(float value) noexcept { return convlab::float_to_half(value); }
float half_to_float(uint16_t bits) noexcept { return convlab::half_to_float(bits); }

__half __hfma(__half a, __half b, __half c) noexcept {
  const internal::Worker* const worker = internal::active_worker;
  if (worker != nullptr && worker->counting() != nullptr) worker->counting()->multiply_add();
  const double product = static_cast<double>(static_cast<float>(a)) * static_cast<float>(b);
  const double addend = static_cast<float>(c);
  // The sum of a 22-bit and an 11-bit number may need more than double's 53 bits, or lose its last bits in float.
  // Rounding both intermediate results to odd keeps the final rounding correct.
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

__half __hadd(__half a, __half b) noexcept { return static_cast<float>(a) + static_cast<float>(b); }
__half __hsub(__half a, __half b) noexcept { return static_cast<float>(a) - static_cast<float>(b); }
__half __hmul(__half a, __half b) noexcept { return static_cast<float>(a) * static_cast<float>(b); }

__half2 __floats2half2_rn(float x, float y) noexcept { return {x, y}; }
__half2 __hadd2(__half2 a, __half2 b) noexcept { return {__hadd(a.x, b.x), __hadd(a.y, b.y)}; }
__half2 __hsub2(__half2 a, __half2 b) noexcept { return {__hsub(a.x, b.x), __hsub(a.y, b.y)}; }
__half2 __hmul2(__half2 a, __half2 b) noexcept { return {__hmul(a.x, b.x), __hmul(a.y, b.y)}; }
__half2 __hfma2(__half2 a, __half2 b, __half2 c) noexcept { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }

namespace {

// Returns the fp16 value next to `bits`, which is not NaN, above or below it.
uint16_t next(uint16_t bits, bool above) {
  constexpr uint16_t kSign = 0x8000, kInfinity = 0x7c00;
  const bool negative = (bits & kSign) != 0;
  const uint16_t size = bits & ~kSign;
  if (size == 0) return above ? 1 : kSign | 1;
  if (size == kInfinity && negative != above) return bits;
  return negative == above ? bits - 1 : bits + 1;
}

__half rounded(float value, bool up) {
  uint16_t bits = float_to_half(value);
  const float nearest = half_to_float(bits);
  if (up ? nearest < value : nearest > value) bits = next(bits, up);
  return __ushort_as_half(bits);
}

}  // namespace

__half __float2half_rd(float value) noexcept { return rounded(value, false); }
__half __float2half_ru(float value) noexcept { return rounded(value, true); }

}  // namespace convlab::simt::cuda
