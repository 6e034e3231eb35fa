#pragma once

#include <type_traits>

#include "convlab/device/opaque.cuh"
#include "convlab/kernels/cuda/first_layer/first_shape.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Staging of a first layer's pixels as words of two fp16 values in shared memory, and the check that fp16 can represent
// them. A row of the band takes kRowWords words: the large parts and, from kPitch on, the small parts.

constexpr int kPitch = 44;  // 12 modulo 32, so that words of adjacent filter rows are in different banks

/// The factor of a split value's small part, so that it is subnormal only if the large part is.
constexpr float kSmallScale = 2048, kSmallUnit = 1 / kSmallScale;

inline __device__ uint32_t bits_of(__half2 pair) {
  return __half_as_ushort(__low2half(pair)) | uint32_t{__half_as_ushort(__high2half(pair))} << 16;
}

/// Two values rounded to fp16, the first in the low half, and the rounding errors.
struct SplitPair {
  uint32_t large, small;
};
inline __device__ uint32_t to_halves(float first, float second) { return bits_of(__floats2half2_rn(first, second)); }
inline __device__ SplitPair split(float first, float second) {
  const __half2 large = __floats2half2_rn(first, second);
  return {bits_of(large),
          to_halves((first - __low2float(large)) * kSmallScale, (second - __high2float(large)) * kSmallScale)};
}

/// Converts two bytes, the first one low, to fp16: 0x6400 is 1024, and its low bits count units.
inline __device__ uint32_t to_halves(uint32_t bytes) {
  const uint32_t above = (bytes & 0xffu) | (bytes & 0xff00u) << 8 | 0x64006400u;
  const __half2 value{__ushort_as_half(static_cast<unsigned short>(above)),
                      __ushort_as_half(static_cast<unsigned short>(above >> 16))};
  return bits_of(__hsub2(value, __float2half2_rn(1024)));
}

/// Flags for the magnitudes of a set of values.
constexpr uint32_t kTooLarge = 1, kUsual = 2, kNotZero = 4;

/// Returns the flags of the largest magnitude, passed as bits (NaN is larger than infinity): at least 65504, at least
/// 2^-12, more than 0.
inline __device__ uint32_t range_of(uint32_t largest) {
  return (largest >= 0x477fe000u ? kTooLarge : 0u) | (largest >= 0x39800000u ? kUsual : 0u) |
         (largest > 0 ? kNotZero : 0u);
}

/// Returns whether fp16 cannot represent the values: some exceed its largest number, or all are so small that their
/// parts lose bits.
inline __device__ bool out_of_range(uint32_t flags) {
  return (flags & kTooLarge) != 0 || (flags & (kUsual | kNotZero)) == kNotZero;
}

inline __device__ uint32_t larger(uint32_t bits, float value) {
  return max(bits, __float_as_uint(value) & 0x7fffffffu);
}

/// Returns value / divisor for value * divisor^2 < 2^31 and inverse = ceil(2^31 / divisor).
inline __device__ int divide(int value, uint32_t inverse) { return static_cast<int>(__umulhi(2u * value, inverse)); }

/// A band's pixels. Threads load them in units of 8 bytes of float, one word's pixels, or 4 bytes of uint8, two words'.
template <class Pixel>
struct Band {
  static constexpr bool kFloat = std::is_same_v<Pixel, float>;
  using Unit = std::conditional_t<kFloat, float2, uint32_t>;
  static constexpr int kWordsOfUnit = kFloat ? 1 : 2;

  const Pixel* image;
  int top, height;  ///< in image rows; top may be negative, and the last rows may be below the image

  /// Returns a pixel of the band's word `index`, or 0 outside the image.
  __device__ Pixel at(const FirstLayerShape& shape, int index, int right) const {
    const int row = divide(index, shape.words_inverse), h = top + row;
    const int w = 2 * (index - row * shape.image_words) + right - shape.conv.pad_left;
    const bool inside = row < height && h >= 0 && h < shape.conv.h && w >= 0 && w < shape.conv.w;
    return inside ? image[h * shape.conv.w + w] : Pixel{};
  }
  __device__ Unit load(const FirstLayerShape& shape, int unit) const {
    if constexpr (kFloat) {
      return {at(shape, unit, 0), at(shape, unit, 1)};
    } else {
      return at(shape, 2 * unit, 0) | uint32_t{at(shape, 2 * unit, 1)} << 8 |
             uint32_t{at(shape, 2 * unit + 1, 0)} << 16 | uint32_t{at(shape, 2 * unit + 1, 1)} << 24;
    }
  }

  /// Loads this thread's units: the first, and every blockDim.x-th after it. Only if the shape is contiguous.
  template <int kUnits>
  __device__ void load_all(const FirstLayerShape& shape, Unit (&units)[kUnits]) const {
    const auto* from = reinterpret_cast<const Unit*>(image + top * shape.conv.w);
    const int count = min(height, shape.conv.h - top) * shape.image_words / kWordsOfUnit;
#pragma unroll
    for (int i = 0; i < kUnits; ++i) {
      const int unit = threadIdx.x + i * blockDim.x;
      units[i] = Unit{};
      if (unit < count) units[i] = from[unit];
    }
  }
};

/// Stages a unit, and updates `largest` with its largest magnitude, as bits.
template <int kRowWords, bool kSplit>
__device__ void stage(float2 unit, int index, uint32_t* words, const FirstLayerShape& shape, uint32_t& largest) {
  uint32_t* to = words + index + divide(index, shape.words_inverse) * (kRowWords - shape.image_words);
  largest = larger(larger(largest, unit.x), unit.y);
  if constexpr (kSplit) {
    const SplitPair pair = split(unit.x, unit.y);
    to[0] = pair.large;
    to[kPitch] = pair.small;
  } else {
    to[0] = to_halves(unit.x, unit.y);
  }
}
template <int kRowWords, bool kSplit>
__device__ void stage(uint32_t unit, int index, uint32_t* words, const FirstLayerShape& shape, uint32_t&) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int word = 2 * index + i;
    words[word + divide(word, shape.words_inverse) * (kRowWords - shape.image_words)] = to_halves(unit >> 16 * i);
  }
}

// Shared memory by its address, opaque to the compiler, so that one addition gives the address of a load.
#ifdef __CUDACC__
using SharedWords = uint32_t;
inline __device__ SharedWords shared_words(const void* words) {
  auto address = static_cast<uint32_t>(__cvta_generic_to_shared(words));
  asm volatile("" : "+r"(address));
  return address;
}
inline __device__ void* generic(SharedWords words) { return __cvta_shared_to_generic(words); }
#else
using SharedWords = unsigned char*;
inline SharedWords shared_words(void* words) { return static_cast<unsigned char*>(words); }
inline void* generic(SharedWords words) { return words; }
#endif
inline __device__ uint32_t load_word(SharedWords words) { return *static_cast<const uint32_t*>(generic(words)); }
template <class T>
__device__ void store_shared(SharedWords words, T value) {
  *static_cast<T*>(generic(words)) = value;
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
