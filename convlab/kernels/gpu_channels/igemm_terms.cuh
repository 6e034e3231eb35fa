#pragma once

// What igemm.cuh multiplies, and how: halves, TF32, or float32 split in two halves. In shared memory a slice of a row
// or a map is 128 bytes whatever they are. Two chunks of 16 bytes, of 16 rows or maps, are four matrices of
// load_matrices(): what an mma of halves takes for 16 terms, and one of TF32 for 8.

#include <cmath>

#include "convlab/device/tensor_core.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

constexpr int kIgemmChunks = 8;  // of a slice, of 16 bytes each

/// Where a chunk of a line of a stage lies: eight lines' same chunks are in different banks.
__device__ inline SharedAddress chunk_in_stage(SharedAddress stage, int line, int chunk) {
  return stage + (line * kIgemmChunks + (chunk ^ line % kIgemmChunks)) * 16;
}

/// The part of a tile that a warp makes: 16 kDown rows, of `rows` on, by 8 kAcross maps, of line `maps` of the stage
/// on.
template <int kDown, int kAcross>
struct WarpPart {
  static constexpr int kRows16 = kDown, kMaps8 = kAcross;
  using Sum = float[kDown][kAcross][4];
  int rows, maps;

  /// Fragments of two chunks, of 16 rows or of 16 maps.
  static __device__ void load_rows(uint32_t (&to)[4], SharedAddress stage, int line, int chunk) {
    const int lane = threadIdx.x % 32;
    load_matrices(to, chunk_in_stage(stage, line + lane % 16, chunk + lane / 16));
  }
  static __device__ void load_maps(uint32_t (&to)[4], SharedAddress stage, int line, int chunk) {
    const int lane = threadIdx.x % 32;
    load_matrices(to, chunk_in_stage(stage, line + lane % 8 + lane / 16 * 8, chunk + lane / 8 % 2));
  }
};

/// sum += a slice's rows * its maps, whose fragments lie there as `multiply(sum, rows, map)` takes them, once
/// `make(rows)` has changed those of the rows.
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

/// Terms in float16.
struct HalfTerms {
  using Element = __half;
  static constexpr int kChunk = 8, kSlice = 64;  // terms
  static constexpr int kSliceBytes = 128;        // of a map
  static constexpr bool kScales = false;         // maps by powers of two, and some tiles must be computed otherwise
  struct Seen {};

  /// Writes a map's term to its slice in memory.
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

/// Terms in float32, rounded to TF32.
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

/// Terms in float32, each split in two halves. A pixel x is X + x' / 2048, a filter, times a power of two so that a
/// map's largest is near 2^15, W + w'. The sum is of W X + w' X + (W / 2048) x'. Tensor cores truncate where adders
/// round: they add up one slice, and adders do the rest. A slice of a map is 32 W, then 32 w'.
struct SplitTerms {
  using Element = float;
  static constexpr int kChunk = 4, kSlice = 32, kSliceBytes = 128;
  static constexpr bool kScales = true;
  static constexpr float kApart = 2048;

  /// The bits of the largest pixel, without its sign; NaN is larger than all numbers.
  struct Seen {
    uint32_t largest = 0;

    __device__ void add(uint32_t bits) { largest = max(largest, bits & 0x7fffffffu); }
  };

  /// The place of a term among those of its slice. Of 16 terms, a thread has t, 4 + t, 8 + t and 12 + t of the pixels,
  /// and of an mma's halves 2 t and the next, 2 t + 8 and the next.
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

  /// A map's term, from its slice.
  static __device__ float unpacked(int term, const void* slice) {
    const auto* const from = static_cast<const __half*>(slice) + place(term);
    return __half2float(from[0]) + __half2float(from[kSlice]);
  }

  static __device__ uint32_t bits(__half2 pair) { return *reinterpret_cast<const uint32_t*>(&pair); }

  /// Two pixels' large and small halves. `seen` is told of them.
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

/// What undoes the factors of maps, behind their packed filters: see igemm_weights.cuh.
template <class Terms>
__host__ __device__ const float* igemm_undo(const void* weights, int64_t maps, int64_t slices) {
  return reinterpret_cast<const float*>(static_cast<const unsigned char*>(weights) +
                                        maps * slices * Terms::kSliceBytes);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
