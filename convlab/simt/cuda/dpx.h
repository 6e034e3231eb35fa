#pragma once

#include "convlab/simt/cuda/video.h"

/// CUDA's DPX instructions for dynamic programming: sums wrap, _relu is max(result, 0), and s16x2 and u16x2 are two
/// 16-bit numbers in a word.
namespace convlab::simt::cuda {

namespace simt_detail {

constexpr int wrapped_sum(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
constexpr unsigned wrapped_sum(unsigned a, unsigned b) { return a + b; }
template <class T>
constexpr T no_less(T a, T b) {
  return a < b ? b : a;
}
template <class T>
constexpr T no_more(T a, T b) {
  return b < a ? b : a;
}

/// The larger or smaller number, and whether it is a: for each part if the word has two.
template <bool kSigned>
constexpr unsigned chosen_parts(unsigned a, unsigned b, bool largest, bool* high_is_a, bool* low_is_a) {
  const unsigned larger = kSigned ? __vmaxs2(a, b) : __vmaxu2(a, b),
                 smaller = kSigned ? __vmins2(a, b) : __vminu2(a, b);
  const unsigned chosen = largest ? larger : smaller, equal = __vcmpeq2(chosen, a);
  *high_is_a = (equal & 0xffff0000u) != 0;
  *low_is_a = (equal & 0xffffu) != 0;
  return chosen;
}

}  // namespace simt_detail

// `T`, the suffix, and the functions for max, min and a sum of one word.
#define CONVLAB_SIMT_DPX(T, kind, larger, smaller, sum)                            \
  constexpr T __vimax3_##kind(T a, T b, T c) { return larger(larger(a, b), c); }   \
  constexpr T __vimin3_##kind(T a, T b, T c) { return smaller(smaller(a, b), c); } \
  constexpr T __viaddmax_##kind(T a, T b, T c) { return larger(sum(a, b), c); }    \
  constexpr T __viaddmin_##kind(T a, T b, T c) { return smaller(sum(a, b), c); }
#define CONVLAB_SIMT_DPX_RELU(T, kind, larger, smaller)                                                    \
  constexpr T __vimax_##kind##_relu(T a, T b) { return larger(larger(a, b), T{0}); }                       \
  constexpr T __vimin_##kind##_relu(T a, T b) { return larger(smaller(a, b), T{0}); }                      \
  constexpr T __vimax3_##kind##_relu(T a, T b, T c) { return larger(__vimax3_##kind(a, b, c), T{0}); }     \
  constexpr T __vimin3_##kind##_relu(T a, T b, T c) { return larger(__vimin3_##kind(a, b, c), T{0}); }     \
  constexpr T __viaddmax_##kind##_relu(T a, T b, T c) { return larger(__viaddmax_##kind(a, b, c), T{0}); } \
  constexpr T __viaddmin_##kind##_relu(T a, T b, T c) { return larger(__viaddmin_##kind(a, b, c), T{0}); }

CONVLAB_SIMT_DPX(int, s32, simt_detail::no_less, simt_detail::no_more, simt_detail::wrapped_sum)
CONVLAB_SIMT_DPX(unsigned, u32, simt_detail::no_less, simt_detail::no_more, simt_detail::wrapped_sum)
CONVLAB_SIMT_DPX(unsigned, s16x2, __vmaxs2, __vmins2, __vadd2)
CONVLAB_SIMT_DPX(unsigned, u16x2, __vmaxu2, __vminu2, __vadd2)
CONVLAB_SIMT_DPX_RELU(int, s32, simt_detail::no_less, simt_detail::no_more)
CONVLAB_SIMT_DPX_RELU(unsigned, s16x2, __vmaxs2, __vmins2)

#undef CONVLAB_SIMT_DPX
#undef CONVLAB_SIMT_DPX_RELU

// `is_a`: whether the result is a.
#define CONVLAB_SIMT_DPX_CHOICE(T, kind)                                                 \
  constexpr T __vibmax_##kind(T a, T b, bool* is_a) { return (*is_a = a >= b) ? a : b; } \
  constexpr T __vibmin_##kind(T a, T b, bool* is_a) { return (*is_a = a <= b) ? a : b; }
#define CONVLAB_SIMT_DPX_CHOICE2(kind, is_signed)                                               \
  constexpr unsigned __vibmax_##kind(unsigned a, unsigned b, bool* high_is_a, bool* low_is_a) { \
    return simt_detail::chosen_parts<is_signed>(a, b, true, high_is_a, low_is_a);               \
  }                                                                                             \
  constexpr unsigned __vibmin_##kind(unsigned a, unsigned b, bool* high_is_a, bool* low_is_a) { \
    return simt_detail::chosen_parts<is_signed>(a, b, false, high_is_a, low_is_a);              \
  }

CONVLAB_SIMT_DPX_CHOICE(int, s32)
CONVLAB_SIMT_DPX_CHOICE(unsigned, u32)
CONVLAB_SIMT_DPX_CHOICE2(s16x2, true)
CONVLAB_SIMT_DPX_CHOICE2(u16x2, false)

#undef CONVLAB_SIMT_DPX_CHOICE
#undef CONVLAB_SIMT_DPX_CHOICE2

}  // namespace convlab::simt::cuda
