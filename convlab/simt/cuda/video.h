#pragma once

#include <algorithm>

/// CUDA's SIMD video instructions: the two 16-bit or four 8-bit parts of a word are numbers of their own. Letters of
/// the names: s and u for signed and unsigned, ss and us for saturated results; all other results wrap.
namespace convlab::simt::cuda {

namespace simt_detail {

/// Returns the word of `combine(a, b)` of each part, whose operands are ints.
template <int kBits, bool kSigned, class F>
constexpr unsigned per_part(unsigned a, unsigned b, F combine) {
  constexpr unsigned kMask = (1u << kBits) - 1;
  const auto part = [](unsigned word, int shift) {
    const auto bits = static_cast<int>(word >> shift & kMask);
    return kSigned && bits >> (kBits - 1) ? bits - (1 << kBits) : bits;
  };
  unsigned word = 0;
  for (int shift = 0; shift < 32; shift += kBits) {
    word |= (static_cast<unsigned>(combine(part(a, shift), part(b, shift))) & kMask) << shift;
  }
  return word;
}

template <int kBits>
constexpr int saturated_signed(int x) {
  return std::clamp(x, -(1 << (kBits - 1)), (1 << (kBits - 1)) - 1);
}
template <int kBits>
constexpr int saturated_unsigned(int x) {
  return std::clamp(x, 0, (1 << kBits) - 1);
}

template <int kBits, bool kSigned>
constexpr unsigned sum_of_differences(unsigned a, unsigned b) {
  int sum = 0;
  per_part<kBits, kSigned>(a, b, [&](int x, int y) { return sum += x < y ? y - x : x - y; });
  return static_cast<unsigned>(sum);
}

}  // namespace simt_detail

#define CONVLAB_SIMT_VIDEO1(name, bits, is_signed, ...)                                               \
  constexpr unsigned name##bits(unsigned a) {                                                         \
    return simt_detail::per_part<32 / bits, is_signed>(a, 0, [](int x, int) { return __VA_ARGS__; }); \
  }
#define CONVLAB_SIMT_VIDEO2(name, bits, is_signed, ...)                                                 \
  constexpr unsigned name##bits(unsigned a, unsigned b) {                                               \
    return simt_detail::per_part<32 / bits, is_signed>(a, b, [](int x, int y) { return __VA_ARGS__; }); \
  }
#define CONVLAB_SIMT_COMPARISON(suffix, bits, is_signed, operation)            \
  CONVLAB_SIMT_VIDEO2(__vcmp##suffix, bits, is_signed, x operation y ? -1 : 0) \
  CONVLAB_SIMT_VIDEO2(__vset##suffix, bits, is_signed, x operation y ? 1 : 0)

#define CONVLAB_SIMT_VIDEO(parts)                                                                       \
  CONVLAB_SIMT_VIDEO1(__vabs, parts, true, x < 0 ? -x : x)                                              \
  CONVLAB_SIMT_VIDEO1(__vabsss, parts, true, simt_detail::saturated_signed<32 / parts>(x < 0 ? -x : x)) \
  CONVLAB_SIMT_VIDEO1(__vneg, parts, true, -x)                                                          \
  CONVLAB_SIMT_VIDEO1(__vnegss, parts, true, simt_detail::saturated_signed<32 / parts>(-x))             \
  CONVLAB_SIMT_VIDEO2(__vadd, parts, false, x + y)                                                      \
  CONVLAB_SIMT_VIDEO2(__vaddss, parts, true, simt_detail::saturated_signed<32 / parts>(x + y))          \
  CONVLAB_SIMT_VIDEO2(__vaddus, parts, false, simt_detail::saturated_unsigned<32 / parts>(x + y))       \
  CONVLAB_SIMT_VIDEO2(__vsub, parts, false, x - y)                                                      \
  CONVLAB_SIMT_VIDEO2(__vsubss, parts, true, simt_detail::saturated_signed<32 / parts>(x - y))          \
  CONVLAB_SIMT_VIDEO2(__vsubus, parts, false, simt_detail::saturated_unsigned<32 / parts>(x - y))       \
  CONVLAB_SIMT_VIDEO2(__vabsdiffs, parts, true, x < y ? y - x : x - y)                                  \
  CONVLAB_SIMT_VIDEO2(__vabsdiffu, parts, false, x < y ? y - x : x - y)                                 \
  /* Rounded to nearest, and a half away from zero. */                                                  \
  CONVLAB_SIMT_VIDEO2(__vavgs, parts, true, (x + y + (x + y >= 0)) >> 1)                                \
  CONVLAB_SIMT_VIDEO2(__vavgu, parts, false, (x + y + 1) >> 1)                                          \
  CONVLAB_SIMT_VIDEO2(__vhaddu, parts, false, (x + y) >> 1)                                             \
  CONVLAB_SIMT_VIDEO2(__vmaxs, parts, true, x < y ? y : x)                                              \
  CONVLAB_SIMT_VIDEO2(__vmaxu, parts, false, x < y ? y : x)                                             \
  CONVLAB_SIMT_VIDEO2(__vmins, parts, true, x < y ? x : y)                                              \
  CONVLAB_SIMT_VIDEO2(__vminu, parts, false, x < y ? x : y)                                             \
  CONVLAB_SIMT_COMPARISON(eq, parts, false, ==)                                                         \
  CONVLAB_SIMT_COMPARISON(ne, parts, false, !=)                                                         \
  CONVLAB_SIMT_COMPARISON(ges, parts, true, >=)                                                         \
  CONVLAB_SIMT_COMPARISON(geu, parts, false, >=)                                                        \
  CONVLAB_SIMT_COMPARISON(gts, parts, true, >)                                                          \
  CONVLAB_SIMT_COMPARISON(gtu, parts, false, >)                                                         \
  CONVLAB_SIMT_COMPARISON(les, parts, true, <=)                                                         \
  CONVLAB_SIMT_COMPARISON(leu, parts, false, <=)                                                        \
  CONVLAB_SIMT_COMPARISON(lts, parts, true, <)                                                          \
  CONVLAB_SIMT_COMPARISON(ltu, parts, false, <)                                                         \
  /* Sums of absolute differences. */                                                                   \
  constexpr unsigned __vsads##parts(unsigned a, unsigned b) {                                           \
    return simt_detail::sum_of_differences<32 / parts, true>(a, b);                                     \
  }                                                                                                     \
  constexpr unsigned __vsadu##parts(unsigned a, unsigned b) {                                           \
    return simt_detail::sum_of_differences<32 / parts, false>(a, b);                                    \
  }

CONVLAB_SIMT_VIDEO(2)
CONVLAB_SIMT_VIDEO(4)

#undef CONVLAB_SIMT_VIDEO
#undef CONVLAB_SIMT_COMPARISON
#undef CONVLAB_SIMT_VIDEO2
#undef CONVLAB_SIMT_VIDEO1

}  // namespace convlab::simt::cuda
