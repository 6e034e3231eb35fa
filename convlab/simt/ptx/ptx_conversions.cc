// Executes PTX's moves and conversions of numbers.

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "convlab/simt/cuda/fp8.h"
#include "convlab/simt/cuda/mma.h"
#include "convlab/simt/cuda/narrow_rounding.h"
#include "convlab/simt/ptx/ptx_run.h"

namespace convlab::simt::ptx {
namespace {

/// long double holds all numbers of 64 bits.
using Wide = long double;

Wide value_of_source(const Run& run, const Instruction& i, const Operand& operand, Type type) {
  Wide value = 0;
  const bool flush = i.has("ftz"_word);
  if (with_integer(type, [&]<class T>(T) { value = run.get<T>(operand); })) return value;
  const bool is_real = with_real(type, [&]<class T>(T) {
    const T x = run.get<T>(operand);
    value = static_cast<Wide>(static_cast<double>(flush ? flushed(x) : x));
  });
  if (!is_real) fail_unsupported(run, i);
  return value;
}

/// Rounds to a whole number, by .rni and the like, or by .rn and the like.
Wide whole(const Instruction& i, Wide value) {
  if (i.has("rzi"_word) || i.has("rz"_word)) return std::trunc(value);
  if (i.has("rmi"_word) || i.has("rm"_word)) return std::floor(value);
  if (i.has("rpi"_word) || i.has("rp"_word)) return std::ceil(value);
  return std::nearbyint(value);
}

Rounding rounding_of(const Instruction& i) {
  if (i.has("rz"_word)) return Rounding::towards_zero;
  if (i.has("rm"_word)) return Rounding::down;
  if (i.has("rp"_word)) return Rounding::up;
  return Rounding::nearest_even;
}

template <class T>
T rounded(Wide value, Rounding rounding) {
  constexpr int kModes[]{FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  const int before = std::fegetround();
  volatile Wide from = value;
  volatile T result = 0;
  std::fesetround(kModes[static_cast<size_t>(rounding)]);
  result = static_cast<T>(from);
  std::fesetround(before);
  return result;
}

/// Real numbers saturate. NaN becomes 0 if both types have at most 32 bits, otherwise the highest bit alone.
template <class T>
T integer_of(const Instruction& i, Wide value, Type from) {
  if (std::isnan(value)) {
    if (sizeof(T) <= 4 && bytes_of(from) <= 4) return 0;
    return static_cast<T>(std::make_unsigned_t<T>{1} << (8 * sizeof(T) - 1));
  }
  const Wide at = whole(i, value), least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  return at <= least ? std::numeric_limits<T>::min() : at >= most ? std::numeric_limits<T>::max() : static_cast<T>(at);
}

bool rounds_to_whole(const Instruction& i) {
  return i.has("rni"_word) || i.has("rzi"_word) || i.has("rmi"_word) || i.has("rpi"_word);
}

/// .sat and .relu of a real result.
Wide limited(const Instruction& i, Wide value) {
  if (i.has("sat"_word)) return value >= 1 ? 1 : value > 0 ? value : 0;
  if (i.has("relu"_word) && value < 0) return 0;
  return value;
}

uint32_t narrow_bits(const Instruction& i, Wide value, NarrowFormat format) {
  return narrow(limited(i, value), format, rounding_of(i), i.has("satfinite"_word));
}

void to_real(Run& run, const Instruction& i, Wide value) {
  const Operand& to = i.operand(0);
  if (rounds_to_whole(i)) value = whole(i, value);
  const auto put_flushed = [&](auto x) { run.put(to, i.has("ftz"_word) ? flushed(x) : x); };
  switch (i.type(0)) {
    case Type::f16:
      return run.put(to, static_cast<uint16_t>(narrow_bits(i, value, kHalfFormat)));
    case Type::bf16:
      return run.put(to, static_cast<uint16_t>(narrow_bits(i, value, kBrainFormat)));
    case Type::f32:
      return put_flushed(rounded<float>(limited(i, value), rounding_of(i)));
    case Type::f64:
      return run.put(to, rounded<double>(limited(i, value), rounding_of(i)));
    case Type::tf32: {
      constexpr NarrowFormat kFormat{10, -126, 0x3fbff, 0x3fc00, 0x3ffff, 0x40000};
      const auto x = static_cast<float>(limited(i, value));
      if (i.has("rna"_word) || std::isnan(x)) return run.put(to, to_tf32(x));
      return run.put(to, narrow_bits(i, value, kFormat) << 13);
    }
    default:
      fail_unsupported(run, i);
  }
}

/// Two numbers in one register: the first source is the upper one. From two floats, or from a register of two.
void to_pair(Run& run, const Instruction& i) {
  const Type to = i.type(0), from = i.type(1);
  const bool is_fp8 = to == Type::e4m3x2 || to == Type::e5m2x2;
  const NarrowFormat format = to == Type::f16x2    ? kHalfFormat
                              : to == Type::bf16x2 ? kBrainFormat
                              : to == Type::e4m3x2 ? kE4m3Format
                                                   : kE5m2Format;
  const int bits = is_fp8 ? 8 : 16;
  Wide high = 0, low = 0;
  if (from == Type::f32 && i.group_count == 3) {
    high = run.get<float>(i.operand(1));
    low = run.get<float>(i.operand(2));
  } else if (const auto both = run.get<uint32_t>(i.operand(1)); from == Type::f16x2) {
    high = static_cast<float>(Run::from<Half>(both >> 16));
    low = static_cast<float>(Run::from<Half>(both & 0xffffu));
  } else if (from == Type::e4m3x2 || from == Type::e5m2x2) {
    const auto kind = from == Type::e4m3x2 ? cuda::__NV_E4M3 : cuda::__NV_E5M2;
    const auto number = [&](uint32_t byte) {
      return static_cast<float>(Half(cuda::__nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(byte), kind)));
    };
    high = number(both >> 8);
    low = number(both);
  } else {
    fail_unsupported(run, i);
  }
  const uint32_t result = narrow_bits(i, high, format) << bits | narrow_bits(i, low, format);
  is_fp8 ? run.put(i.operand(0), static_cast<uint16_t>(result)) : run.put(i.operand(0), result);
}

uint64_t low_bits(uint64_t bits, size_t bytes) { return bytes == 8 ? bits : bits & ((uint64_t{1} << 8 * bytes) - 1); }

}  // namespace

void convert(Run& run, const Instruction& i) {
  const Type to = i.type(0), from = i.type(1);
  if (is_pair(to) || to == Type::e4m3x2 || to == Type::e5m2x2) return to_pair(run, i);
  if (!is_integer(to)) return to_real(run, i, value_of_source(run, i, i.operand(1), from));
  with_integer(to, [&]<class T>(T) {
    if (!is_integer(from)) {
      return run.put(i.operand(0), integer_of<T>(i, value_of_source(run, i, i.operand(1), from), from));
    }
    with_integer(from, [&]<class From>(From) {
      const auto x = static_cast<Int128>(run.get<From>(i.operand(1)));
      constexpr Int128 kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
      run.put(i.operand(0), static_cast<T>(i.has("sat"_word) ? std::clamp(x, kLeast, kMost) : x));
    });
  });
}

/// Packs {a, b} into one register, unpacks one register, or copies.
void move(Run& run, const Instruction& i) {
  const Group &to = i.groups[0], &from = i.groups[1];
  if (i.type() == Type::pred) return run.put(i.operand(0), static_cast<uint8_t>(run.is_true(i.operand(1))));
  const size_t bytes = bytes_of(i.type());
  if (to.count == 1 && from.count == 1) {
    if (with_integer(i.type(), [&]<class T>(T) { run.put(i.operand(0), run.get<T>(i.operand(1))); })) return;
    if (is_pair(i.type())) return run.put(i.operand(0), run.get<uint32_t>(i.operand(1)));
    with_real(i.type(), [&]<class T>(T) { run.put(i.operand(0), run.get<T>(i.operand(1))); });
    return;
  }
  const size_t parts = std::max(to.count, from.count);
  if (parts > bytes || bytes % parts != 0 || (to.count != 1 && from.count != 1)) fail_unsupported(run, i);
  const size_t part = bytes / parts;
  if (from.count > 1) {
    uint64_t bits = 0;
    for (size_t n = 0; n < parts; ++n) bits |= low_bits(run.get<uint64_t>(i.operand(1, n)), part) << 8 * part * n;
    return run.put(i.operand(0), bits);
  }
  const auto bits = run.get<uint64_t>(i.operand(1));
  for (size_t n = 0; n < parts; ++n) run.put(i.operand(0, n), low_bits(bits >> 8 * part * n, part));
}

}  // namespace convlab::simt::ptx
