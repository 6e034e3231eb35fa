#pragma once

// Element types of igemm.cuh and how they are multiplied: fp16, TF32, or fp32 split in two fp16 parts. In shared
// memory, a K slice of a row or an output channel is 128 bytes for all of them. Two chunks of 16 bytes, of 16 rows or
// output channels, are four matrices of load_matrices(): the operand of an fp16 mma for 16 K elements, or of a TF32 mma
// for 8.

#include <cmath>

#include "convlab/device/tensor_core.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

constexpr int kIgemmChunks = 8;  // per slice, of 16 bytes each

/// Returns the swizzled address of a chunk of a line of a stage. The same chunk of eight consecutive lines is in
/// different banks. A line is a row or an output channel.
__device__ inline SharedAddress chunk_in_stage(SharedAddress stage, int line, int chunk) {
  return stage + (line * kIgemmChunks + (chunk ^ line % kIgemmChunks)) * 16;
}

/// A warp's part of a tile: 16 kDown rows from line `rows` of the stage on, by 8 kAcross output channels from line
/// `maps` of the stage on.
template <int kDown, int kAcross>
struct WarpPart {
  static constexpr int kRows16 = kDown, kMaps8 = kAcross;
  using Sum = float[kDown][kAcross][4];
  int rows, maps;

  /// Loads the fragments of two chunks, of 16 rows or of 16 output channels.
  static __device__ void load_rows(uint32_t (&to)[4], SharedAddress stage, int line, int chunk) {
    const int lane = threadIdx.x % 32;
    load_matrices(to, chunk_in_stage(stage, line + lane % 16, chunk + lane / 16));
  }
  static __device__ void load_maps(uint32_t (&to)[4], SharedAddress stage, int line, int chunk) {
    const int lane = threadIdx.x % 32;
    load_matrices(to, chunk_in_stage(stage, line + lane % 8 + lane / 16 * 8, chunk + lane / 8 % 2));
  }
};

/// sum += rows * output channels of a slice. `make(rows)` converts a fragment of the rows in place, before
/// `multiply(sum, rows, map)` multiplies it.
template <class Part, class Make, class Multiply>
__device__ void multiply_chunks(typename Part::Sum& sum, SharedAddress stage, const Part& part, const Make& make,
                                const Multiply& multiply) {
#pragma unroll
  for (int chunk = 0; chunk < kIgemmChunks; chunk += 2) {
    uint32_t rows[Part::kRows16][4], maps[Part::kMaps8 / 2][4];
#pragma unroll
    for (int i = 0; i < Part::kRows16; ++i) {
      Part::load_rows(rows[i], stage, part.rows + 16 * i, chunk);
      make(rows[i]);
    }
#pragma unroll
    for (int i = 0; i < Part::kMaps8 / 2; ++i) Part::load_maps(maps[i], stage, part.maps + 16 * i, chunk);
#pragma unroll
    for (int i = 0; i < Part::kRows16; ++i) {
#pragma unroll
      for (int j = 0; j < Part::kMaps8; ++j) {
        const uint32_t map[2] = {maps[j / 2][j % 2 * 2], maps[j / 2][j % 2 * 2 + 1]};
        multiply(sum[i][j], rows[i], map);
      }
    }
  }
}

/// fp16 elements.
struct HalfTerms {
  using Element = __half;
  static constexpr int kChunk = 8, kSlice = 64;  // K elements
  static constexpr int kSliceBytes = 128;        // per output channel
  static constexpr bool kScales = false;         // filters by powers of two, and some tiles need direct summation
  struct Seen {};

  /// Writes a K element of an output channel to its packed slice.
  static __device__ void pack(float value, int term, void* slice) {
    static_cast<__half*>(slice)[term] = __float2half_rn(value);
  }

  template <class Part>
  static __device__ void multiply(typename Part::Sum& sum, SharedAddress stage, const Part& part, Seen&) {
    multiply_chunks(
        sum, stage, part, [](uint32_t(&)[4]) {},
        [](float(&d)[4], const uint32_t(&a)[4], const uint32_t(&b)[2]) { mma_fp16(d, a, b, d); });
  }
};

/// fp32 elements, rounded to TF32.
struct TfTerms {
  using Element = float;
  static constexpr int kChunk = 4, kSlice = 32, kSliceBytes = 128;
  static constexpr bool kScales = false;
  struct Seen {};

  static __device__ void pack(float value, int term, void* slice) {
    static_cast<uint32_t*>(slice)[term] = to_tf32(value);
  }

  template <class Part>
  static __device__ void multiply(typename Part::Sum& sum, SharedAddress stage, const Part& part, Seen&) {
    multiply_chunks(
        sum, stage, part,
        [](uint32_t(&rows)[4]) {
#pragma unroll
          for (uint32_t& each : rows) each = to_tf32(__uint_as_float(each));
        },
        [](float(&d)[4], const uint32_t(&a)[4], const uint32_t(&b)[2]) { mma_tf32(d, a, b, d); });
  }
};

/// fp32 elements, each split in two fp16 parts. A pixel is x = X + x' / 2048. A filter is scaled by a power of two so
/// that the largest weight of its output channel is near 2^15, and then is w = W + w'. The sum is W X + w' X + (W /
/// 2048) x'. Tensor cores truncate where FADD rounds, so they accumulate one slice, and FADD adds the slices. A packed
/// slice of an output channel is 32 W, then 32 w'.
struct SplitTerms {
  using Element = float;
  static constexpr int kChunk = 4, kSlice = 32, kSliceBytes = 128;
  static constexpr bool kScales = true;
  static constexpr float kApart = 2048;

  /// The bits of the largest pixel magnitude; NaN is larger than all numbers.
  struct Seen {
    uint32_t largest = 0;

    __device__ void add(uint32_t bits) { largest = max(largest, bits & 0x7fffffffu); }
  };

  /// Returns the index of a K element within its packed slice. Of 16 K elements, a thread holds t, 4 + t, 8 + t and 12
  /// + t of the fp32 pixels, and an fp16 mma expects it to hold 2 t, 2 t + 1, 2 t + 8 and 2 t + 9.
  static __host__ __device__ constexpr int place(int term) {
    const int of_chunk = term % 4, chunk = term % 16 / 4;
    return term / 16 * 16 + of_chunk * 2 + chunk % 2 + chunk / 2 * 8;
  }

  static __device__ void pack(float value, int term, void* slice) {
    auto* const to = static_cast<__half*>(slice) + place(term);
    const __half large = __float2half_rn(value);
    to[0] = large;
    to[kSlice] = __float2half_rn(fabsf(value) < INFINITY ? value - __half2float(large) : 0);
  }

  /// Returns a K element of an output channel from its packed slice.
  static __device__ float unpacked(int term, const void* slice) {
    const auto* const from = static_cast<const __half*>(slice) + place(term);
    return __half2float(from[0]) + __half2float(from[kSlice]);
  }

  static __device__ uint32_t bits(__half2 pair) { return *reinterpret_cast<const uint32_t*>(&pair); }

  /// Splits two pixels into large and small fp16 parts and adds them to `seen`.
  static __device__ void split(uint32_t first, uint32_t second, uint32_t& large, uint32_t& small, auto& seen) {
    const float a = __uint_as_float(first), b = __uint_as_float(second);
    const __half2 whole = __floats2half2_rn(a, b);
    const float2 back = __half22float2(whole);
    const __half2 rest = __floats2half2_rn((a - back.x) * kApart, (b - back.y) * kApart);
    large = bits(whole);
    small = bits(rest);
    seen.add(first);
    seen.add(second);
  }

  template <class Part>
  static __device__ void multiply(typename Part::Sum& total, SharedAddress stage, const Part& part, Seen& seen) {
    typename Part::Sum sum = {};
    const __half2 apart = __float2half2_rn(1 / kApart);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      uint32_t large[Part::kRows16][4], small[Part::kRows16][4];
#pragma unroll
      for (int i = 0; i < Part::kRows16; ++i) {
        uint32_t first[4], second[4];
        Part::load_rows(first, stage, part.rows + 16 * i, 4 * half);
        Part::load_rows(second, stage, part.rows + 16 * i, 4 * half + 2);
        split(first[0], first[2], large[i][0], small[i][0], seen);
        split(first[1], first[3], large[i][1], small[i][1], seen);
        split(second[0], second[2], large[i][2], small[i][2], seen);
        split(second[1], second[3], large[i][3], small[i][3], seen);
      }
#pragma unroll
      for (int j = 0; j < Part::kMaps8; j += 2) {
        uint32_t large_maps[4], small_maps[4], lesser[4];
        Part::load_maps(large_maps, stage, part.maps + 8 * j, 2 * half);
        Part::load_maps(small_maps, stage, part.maps + 8 * j, 4 + 2 * half);
#pragma unroll
        for (int k = 0; k < 4; ++k) lesser[k] = bits(__hmul2(*reinterpret_cast<const __half2*>(&large_maps[k]), apart));
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          const uint32_t w[2] = {large_maps[2 * k], large_maps[2 * k + 1]};
          const uint32_t rest[2] = {small_maps[2 * k], small_maps[2 * k + 1]};
          const uint32_t shifted[2] = {lesser[2 * k], lesser[2 * k + 1]};
#pragma unroll
          for (int i = 0; i < Part::kRows16; ++i) {
            mma_fp16(sum[i][j + k], large[i], rest, sum[i][j + k]);
            mma_fp16(sum[i][j + k], small[i], shifted, sum[i][j + k]);
            mma_fp16(sum[i][j + k], large[i], w, sum[i][j + k]);
          }
        }
      }
    }
#pragma unroll
    for (int i = 0; i < Part::kRows16; ++i) {
#pragma unroll
      for (int j = 0; j < Part::kMaps8; ++j) {
#pragma unroll
        for (int k = 0; k < 4; ++k) total[i][j][k] += sum[i][j][k];
      }
    }
  }
};

/// Returns the inverse scales of the output channels, stored after their packed filters; see igemm_weights.cuh.
template <class Terms>
__host__ __device__ const float* igemm_undo(const void* weights, int64_t maps, int64_t slices) {
  return reinterpret_cast<const float*>(static_cast<const unsigned char*>(weights) +
                                        maps * slices * Terms::kSliceBytes);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
