#pragma once

// What wgmma multiplies. A slice is 128 bytes of a pixel, and of a map a row in each of kFilterParts boxes.

#ifdef __CUDACC__

#include "convlab/kernels/gpu_channels/igemm_terms.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// Terms of a sum that a slice holds; and that a step of 32 bytes of a pixel does.
template <class Element>
constexpr int kSliceTerms = 128 / sizeof(Element);
template <class Element>
constexpr int kStepTerms = 32 / sizeof(Element);

/// A float as the sum of two of TF32, to 2^-22 of it; of what is infinite the rest is zero.
struct SplitTf32 {
  uint32_t large, rest;

  __device__ explicit SplitTf32(float value) : large(to_tf32(value)) {
    constexpr uint32_t kAll = 0x7fffffffu, kInfinite = 0x7f800000u, kBits = 0xffffe000u;
    if ((large & kAll) == kInfinite) large = __float_as_uint(value) & kBits;  // also what becomes infinite by rounding
    const float difference = value - __uint_as_float(large);
    rest = (large & kAll) == kInfinite ? 0 : to_tf32(difference);
  }
};

/// Halves.
struct HopperHalves : HalfTerms {
  using Filter = __half;
  static constexpr bool kSplit = false;
  static constexpr int kFilterParts = 1, kFilterRow = 128;
};

/// Floats, of which the copy engine makes TF32.
struct HopperTf32 : TfTerms {
  using Filter = float;
  static constexpr bool kSplit = false;
  static constexpr int kFilterParts = 1, kFilterRow = 128;
};

/// What split terms share: pixels are split in registers, multiplied in three products, and some slices are added up at
/// a time. kOfRest: the part of filters that what pixels lack is multiplied with.
///
/// Floats, split in two of TF32 each. Filters' large parts come first, then what these lack.
struct HopperSplitTf32 {
  using Element = float;
  using Filter = float;
  static constexpr bool kSplit = true, kScales = false;
  static constexpr int kSlice = 32, kSliceBytes = 256, kFilterParts = 2, kFilterRow = 128, kOfRest = 0;
  static constexpr int kSteps = 4;  // of a slice

  static __device__ void pack(float value, int term, void* slice) {
    const SplitTf32 split(value);
    auto* const to = static_cast<uint32_t*>(slice) + term;
    to[0] = split.large;
    to[kSlice] = split.rest;
  }
};

/// Floats, split in two halves each: see SplitTerms. Filters are W, w', and W / 2048, as instructions take these from
/// shared memory. They lie in memory as there, slice by slice, part by part, so that a tile's are copied at once:
/// chunks of a map's 64 bytes are permuted.
struct HopperSplitHalves {
  using Element = float;
  using Filter = __half;
  static constexpr bool kSplit = true, kScales = true;
  static constexpr int kSlice = 32, kSliceBytes = 192, kFilterParts = 3, kFilterRow = 64, kOfRest = 2;
  static constexpr int kSteps = 2;

  /// Maps are filled up to the most that a tile has.
  static __host__ __device__ int64_t maps_there(int64_t maps) { return (maps + 127) / 128 * 128; }

  /// Of a slice of `maps`, the halves before a term's W.
  static __device__ int64_t place(int64_t map, int term) {
    const int of_slice = SplitTerms::place(term), chunk = of_slice / 8 ^ static_cast<int>(map / 2 % 4);
    return map * kSlice + chunk * 8 + of_slice % 8;
  }

  /// Writes a term to its place in a slice of `maps`.
  static __device__ void pack(float value, __half* to, int64_t maps) {
    const __half large = __float2half_rn(value);
    to[0] = large;
    to[maps * kSlice] = __float2half_rn(fabsf(value) < INFINITY ? value - __half2float(large) : 0);
    to[2 * maps * kSlice] = __float2half_rn(__half2float(large) / SplitTerms::kApart);
  }

  static __device__ float unpacked(const __half* from, int64_t maps) {
    return __half2float(from[0]) + __half2float(from[maps * kSlice]);
  }
};

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
