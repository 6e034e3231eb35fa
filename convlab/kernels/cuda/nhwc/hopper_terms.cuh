#pragma once

// Element types of the wgmma kernels. A K slice is 128 bytes of a pixel and, of an output channel, a row in each of
// kFilterParts boxes.

#ifdef __CUDACC__

#include "convlab/kernels/cuda/nhwc/igemm_terms.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// K elements of a slice, and of a step, which is 32 bytes of a pixel.
template <class Element>
constexpr int kSliceTerms = 128 / sizeof(Element);
template <class Element>
constexpr int kStepTerms = 32 / sizeof(Element);

/// An fp32 value as the sum of two TF32 values, with a relative error of 2^-22. If the value is infinite, `rest` is
/// zero.
struct SplitTf32 {
  uint32_t large, rest;

  __device__ explicit SplitTf32(float value) : large(to_tf32(value)) {
    constexpr uint32_t kAll = 0x7fffffffu, kInfinite = 0x7f800000u, kBits = 0xffffe000u;
    if ((large & kAll) == kInfinite) large = __float_as_uint(value) & kBits;  // also for values that round to infinity
    const float difference = value - __uint_as_float(large);
    rest = (large & kAll) == kInfinite ? 0 : to_tf32(difference);
  }
};

/// fp16 elements.
struct HopperHalves : HalfTerms {
  using Filter = __half;
  static constexpr bool kSplit = false;
  static constexpr int kFilterParts = 1, kFilterRow = 128;
};

/// fp32 elements, which TMA rounds to TF32.
struct HopperTf32 : TfTerms {
  using Filter = float;
  static constexpr bool kSplit = false;
  static constexpr int kFilterParts = 1, kFilterRow = 128;
};

/// Common to the split types: pixels are split in registers and multiplied in three products, and tensor cores
/// accumulate a few slices at a time. kOfRest: the part of the filters that the small parts of pixels are multiplied
/// by.
///
/// fp32 elements, each split in two TF32 values. The large parts of the filters come first, then the small ones.
struct HopperSplitTf32 {
  using Element = float;
  using Filter = float;
  static constexpr bool kSplit = true, kScales = false;
  static constexpr int kSlice = 32, kSliceBytes = 256, kFilterParts = 2, kFilterRow = 128, kOfRest = 0;
  static constexpr int kSteps = 4;  // per slice

  static __device__ void pack(float value, int term, void* slice) {
    const SplitTf32 split(value);
    auto* const to = static_cast<uint32_t*>(slice) + term;
    to[0] = split.large;
    to[kSlice] = split.rest;
  }
};

/// fp32 elements, each split in two fp16 parts; see SplitTerms. Filters are stored as W, w' and W / 2048, because wgmma
/// reads them from shared memory. Global memory has the layout of shared memory, slice by slice and part by part, so
/// that a bulk copy loads a tile's part at once. The chunks of an output channel's 64 bytes are swizzled.
struct HopperSplitHalves {
  using Element = float;
  using Filter = __half;
  static constexpr bool kSplit = true, kScales = true;
  static constexpr int kSlice = 32, kSliceBytes = 192, kFilterParts = 3, kFilterRow = 64, kOfRest = 2;
  static constexpr int kSteps = 2;

  /// Returns the number of output channels with padding: a multiple of the largest tile's.
  static __host__ __device__ int64_t maps_there(int64_t maps) { return (maps + 127) / 128 * 128; }

  /// Returns the index of the W of K element `term` in a slice, in fp16 values.
  static __device__ int64_t place(int64_t map, int term) {
    const int of_slice = SplitTerms::place(term), chunk = of_slice / 8 ^ static_cast<int>(map / 2 % 4);
    return map * kSlice + chunk * 8 + of_slice % 8;
  }

  /// Writes a K element to `to`, its place() in a slice of `maps` output channels.
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
