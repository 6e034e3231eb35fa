// Rounds to formats of 8 and 16 bits.

#include "convlab/simt/cuda/narrow_rounding.h"

#include <algorithm>
#include <cmath>

namespace convlab::simt {

uint32_t narrow(long double value, NarrowFormat format, Rounding rounding, bool saturate) noexcept {
  if (std::isnan(value)) return format.not_a_number;
  const bool negative = std::signbit(value);
  const uint32_t sign = negative ? format.sign : 0;
  const long double size = std::abs(value);
  const bool away = rounding == (negative ? Rounding::down : Rounding::up);
  if (std::isinf(size)) return sign | (saturate ? format.largest : format.infinity);
  if (size == 0) return sign;
  // In units of the last place. A carry into the next exponent is right as it is.
  const int exponent = std::max(std::ilogb(size), format.least_exponent);
  const long double units = std::scalbn(size, format.mantissa_bits - exponent);
  const long double whole = rounding == Rounding::nearest_even ? std::nearbyint(units)
                            : away                             ? std::ceil(units)
                                                               : std::floor(units);
  const auto steps = static_cast<uint64_t>(exponent - format.least_exponent) << format.mantissa_bits;
  const uint64_t bits = steps + static_cast<uint64_t>(whole);
  if (bits <= format.largest) return sign | static_cast<uint32_t>(bits);
  const bool stays = saturate || (rounding != Rounding::nearest_even && !away);
  return sign | (stays ? format.largest : format.infinity);
}

}  // namespace convlab::simt
