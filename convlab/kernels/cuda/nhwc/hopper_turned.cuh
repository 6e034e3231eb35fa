#pragma once

// Epilogue of hopper_patch.cuh, whose sums are transposed: their rows are output channels. Of each 8 pixels, a lane
// holds two adjacent ones of output channel lane / 4, and of the output channel 8 below. A warpgroup transposes 64
// pixels by 64 output channels in shared memory, and one thread issues their TMA stores.

#ifdef __CUDACC__

#include "convlab/kernels/cuda/nhwc/hopper_finish.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Writes a warpgroup's tiles in boxes of 64 pixels. The descriptor of y covers only the pixels of a box that are
/// results.
template <class Tile>
struct TurnedWriter {
  using Element = typename Tile::Element;
  static constexpr int kRow = 128, kHalf = 64 * kRow;  ///< bytes of a pixel, and of a box, in one copy
  static constexpr int kHalves = Tile::kMaps / Tile::kBoxMaps;
  static constexpr int kSlots = 4 * Tile::kBoxes * Tile::kBox / (kHalves * kHalf);
  static_assert(kSlots > 0 && Tile::kMaps == 64);

  const PixelShared<Tile>& shared;
  const CUtensorMap& y;
  const PixelConvOf<Element>& conv;
  int warp;  ///< index in the block, uniform across the warp

  /// `row`: output row of the first box's first pixel; `step`: rows from one box to the next.
  __device__ void write(float (&sums)[Tile::kBlocks][32], int row, int step, int map) const {
#pragma unroll
    for (int box = 0; box < Tile::kBlocks; ++box) {
      finish<1>(sums[box], box, map, [&](int) { return row + box * step; });
    }
  }

  /// The same with 2x2 max pooling. Two boxes pool to 32 pixels, so four boxes make one.
  __device__ void write_pooled(float (&sums)[Tile::kBlocks][32], int row, int step, int map) const {
#pragma unroll
    for (int box = 0; box < Tile::kBlocks / 4; ++box) {
      float values[32];
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        // A lane has one of the four maxima of each eight pixels. The maxima of two eights are stored like two adjacent
        // pixels.
        const float(&upper)[32] = sums[4 * box + i / 16 * 2], (&lower)[32] = sums[4 * box + i / 16 * 2 + 1];
        const int from = i % 16 / 4 * 8 + i % 2 * 4 + i / 2 % 2 * 2;
        values[i] = larger(larger(upper[from], upper[from + 1]), larger(lower[from], lower[from + 1]));
      }
      finish<2>(values, box, map, [&](int line) { return row + (2 * box + line) * step; });
    }
  }

 private:
  /// Returns the larger value, or NaN if either is NaN.
  __device__ static float larger(float a, float b) {
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
  }

  /// Finishes a box and stores it in kLines equal parts, each from output row row_of(line) on.
  template <int kLines>
  __device__ void finish(float (&values)[32], int box, int map, const auto& row_of) const {
    const int own = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    const int consumer = warp / 4;
    const bool writes = warp % 4 == 0;
    const SharedAddress to = shared.box(consumer * 4, 0) + box % kSlots * (kHalves * kHalf);
    float bias[2] = {};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int at = map + own + 8 * i;
      if (conv.bias != nullptr && at < conv.shape.k) bias[i] = __ldg(conv.bias + at);
    }
#pragma unroll
    for (int i = 0; i < 32; ++i) values[i] += bias[i / 2 % 2];
    const std::optional<Clamp> clamp = clamp_of(conv.activation);
    if (!clamp) bend<true>(conv.activation, values);
    if (writes && elected()) await_stores<kLines == 1 ? (kSlots - 1) * kHalves : 0>();
    barrier_of_some(1 + consumer, 128);
    put<kLines == 2>(values, clamp.value_or(Clamp{}), to, own);
    fence_for_async();
    barrier_of_some(1 + consumer, 128);
    if (!writes || !elected()) return;
#pragma unroll
    for (int line = 0; line < kLines; ++line) {
#pragma unroll
      for (int half = 0; half < kHalves; ++half) {
        store_rows(y, map + half * Tile::kBoxMaps, row_of(line), to + half * kHalf + line * (kHalf / kLines));
      }
    }
  }

  /// Returns the pixel of one of eight values, which are stored as pairs of adjacent ones.
  template <bool kPooled>
  __device__ static int pixel_of(int value) {
    return kPooled ? value / 2 + value % 2 * 4 : value;
  }

  /// Writes a box to shared memory. Its 16-byte chunks are swizzled as in BoxPlace.
  template <bool kPooled>
  __device__ static void put(const float (&values)[32], const Clamp& clamp, SharedAddress to, int own) {
    const int lane = threadIdx.x % 32;
    if constexpr (kIsHalf<Element>) {
      const ClampedHalves halves(clamp);
      const int chunk = own / 16 * 2 + lane / 8 % 2;
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {  // pair of groups of eight pixels
        uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) words[i] = halves(values[8 * pair + 2 * i], values[8 * pair + 2 * i + 1]);
        const int pixel = 16 * pair + lane / 16 * 8 + pixel_of<kPooled>(lane % 8);
        store_turned(to + pixel * kRow + (chunk ^ pixel % 8) * 16, words);
      }
    } else {
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        const int map = own + i / 2 % 2 * 8, pixel = i / 4 * 8 + pixel_of<kPooled>(lane % 4 * 2 + i % 2);
        const int offset = map / 32 * kHalf + pixel * kRow + (map % 32 / 4 ^ pixel % 8) * 16 + map % 4 * 4;
        *static_cast<float*>(__cvta_shared_to_generic(to + offset)) = clamped(clamp, values[i]);
      }
    }
  }

  /// Transposed stmatrix of four 8 x 8 matrices: lane l passes the address of column l % 8 of matrix l / 8.
  __device__ static void store_turned(SharedAddress column, const uint32_t (&a)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(column), "r"(a[0]),
                 "r"(a[1]), "r"(a[2]), "r"(a[3])
                 : "memory");
  }
};

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
