#pragma once

// What follows the sums of hopper_patch.cuh, whose rows are maps: of 8 pixels, a lane of a warp has two neighbours of map lane /
// 4, and of the map 8 below. A warpgroup turns 64 pixels by 64 maps in shared memory, and one thread has them written.

#ifdef __CUDACC__

#include "convlab/kernels/gpu_channels/hopper_finish.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// A warpgroup's way of writing its tiles: boxes of 64 pixels, of which y's copies take what is a result.
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
  int consumer;

  /// `row`: of the first box's first pixel; `step`: from a box to the next.
  __device__ void write(float (&sums)[Tile::kBlocks][32], int row, int step, int map) const {
    const int own = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    const bool writes = threadIdx.x % 128 == 0;
    float bias[2] = {};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int at = map + own + 8 * i;
      if (conv.bias != nullptr && at < conv.shape.k) bias[i] = __ldg(conv.bias + at);
    }
#pragma unroll
    for (int box = 0; box < Tile::kBlocks; ++box) {
      const SharedAddress to = shared.box(consumer * 4, 0) + box % kSlots * (kHalves * kHalf);
      float(&values)[32] = sums[box];
#pragma unroll
      for (int i = 0; i < 32; ++i) values[i] += bias[i / 2 % 2];
      activate<true>(conv.activation, values);
      if (writes) await_stores<(kSlots - 1) * kHalves>();
      barrier_of_some(1 + consumer, 128);
      put(values, to, own);
      fence_for_async();
      barrier_of_some(1 + consumer, 128);
      if (!writes) continue;
#pragma unroll
      for (int half = 0; half < kHalves; ++half) {
        store_rows(y, map + half * Tile::kBoxMaps, row + box * step, to + half * kHalf);
      }
    }
  }

 private:
  /// Chunks of 16 bytes are permuted, as BoxPlace does.
  __device__ static void put(const float (&values)[32], SharedAddress to, int own) {
    const int lane = threadIdx.x % 32;
    if constexpr (kIsHalf<Element>) {
      const int chunk = own / 16 * 2 + lane / 8 % 2;
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {  // of eights of pixels
        uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const __half2 two = __floats2half2_rn(values[8 * pair + 2 * i], values[8 * pair + 2 * i + 1]);
          words[i] = *reinterpret_cast<const uint32_t*>(&two);
        }
        const int pixel = 16 * pair + lane / 16 * 8 + lane % 8;
        store_turned(to + pixel * kRow + (chunk ^ pixel % 8) * 16, words);
      }
    } else {
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        const int map = own + i / 2 % 2 * 8, pixel = i / 4 * 8 + lane % 4 * 2 + i % 2;
        const int offset = map / 32 * kHalf + pixel * kRow + (map % 32 / 4 ^ pixel % 8) * 16 + map % 4 * 4;
        *static_cast<float*>(__cvta_shared_to_generic(to + offset)) = values[i];
      }
    }
  }

  /// stmatrix of four 8 x 8 matrices, turned: lane l says where column l % 8 of matrix l / 8 begins.
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
