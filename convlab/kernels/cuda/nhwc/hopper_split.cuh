#pragma once

// Split elements of hopper_conv.cuh: pixels are split in registers, from which wgmma reads them. Pixels outside fp16
// range are computed by direct summation.

#ifdef __CUDACC__

#include "convlab/kernels/cuda/nhwc/hopper_copies.cuh"
#include "convlab/kernels/cuda/nhwc/hopper_multiply.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// The largest magnitude among a lane's pixels. NaN is ignored, because fp16 has it, too.
struct LargestPixel {
  float largest = 0;

  __device__ void add(uint32_t bits) { largest = fmaxf(largest, fabsf(__uint_as_float(bits))); }
};

/// A warp's 16 pixels of a stage, split in registers, as fragments for PixelMultiply.
template <class Terms>
class SplitRows {
 public:
  __device__ void load(SharedAddress a, LargestPixel& largest) {
    const int lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;
    load(largest, [&](uint32_t(&to)[4], int pair) {
      load_matrices(to, a + row * 128 + ((2 * pair + lane / 16) ^ row % 8) * 16);
    });
  }

  /// `load_chunks(to, i)` loads the i-th 8 K elements in the order of load_matrices(): the upper and the lower pixel's
  /// of the first chunk of 4, then of the second.
  __device__ void load(LargestPixel& largest, const auto& load_chunks) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if constexpr (Terms::kScales) {
        uint32_t first[4], second[4];
        load_chunks(first, 2 * step);
        load_chunks(second, 2 * step + 1);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          SplitTerms::split(first[i], first[i + 2], large_[step][i], rest_[step][i], largest);
          SplitTerms::split(second[i], second[i + 2], large_[step][i + 2], rest_[step][i + 2], largest);
        }
      } else {
        load_chunks(large_[step], step);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const SplitTf32 split(__uint_as_float(large_[step][i]));
          large_[step][i] = split.large;
          rest_[step][i] = split.rest;
        }
      }
    }
  }

  /// Issues products = these rows * a stage's filters, or adds them if `add`. `steps`: the 32-byte steps that a pixel
  /// has.
  template <class Tile>
  __device__ void multiply(float (&products)[Tile::kMaps / 2], PixelOperand b, int steps, bool add) const {
    hold(products);
    fence_multiplications();
    steps > 2 ? multiply_steps<Tile, kSteps>(products, b, add) : multiply_steps<Tile, kSteps / 2>(products, b, add);
  }

  /// Keeps the compiler from changing the registers before this point.
  __device__ void hold_all() {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) asm volatile("" : "+r"(large_[step][i]), "+r"(rest_[step][i])::"memory");
    }
  }

 private:
  static constexpr int kSteps = Terms::kSteps;

  template <class Tile, int kCount>
  __device__ void multiply_steps(float (&products)[Tile::kMaps / 2], PixelOperand b, bool add) const {
    using Multiply = PixelMultiply<typename Terms::Filter, Tile::kMaps>;
    const auto part = [&](int i, int step) { return b.later(i * (Tile::kMapBytes / 16) + step * 2); };
#pragma unroll
    for (int step = 0; step < kCount; ++step) {
      Multiply::run(products, rest_[step], part(Terms::kOfRest, step), add || step > 0);
      Multiply::run(products, large_[step], part(1, step), true);
      Multiply::run(products, large_[step], part(0, step), true);
    }
    commit_multiplications();  // directly here, for the reason in multiply_slice()
  }

  uint32_t large_[kSteps][4], rest_[kSteps][4];
};

/// Undoes the scales of output channels in a warp's sums; a lane has two of each eight output channels. If a pixel
/// reaches 65504, or all nonzero pixels are below 2^-12, or a filter is not finite, `again(sums)` computes the sums
/// directly. `undo`: inverse scales from the first output channel on; `maps`: output channels that exist from there on.
template <int kCount>
__device__ void scale_back(float (&sums)[kCount], LargestPixel seen, const float* undo, int maps, const auto& again) {
  constexpr float kLargest = 65504, kSmall = 0x1p-12f;
  bool finite = true;
#pragma unroll
  for (int i = 0; i < kCount / 4; ++i) {
    const int map = 8 * i + threadIdx.x % 4 * 2;
    const float2 factors = map < maps ? *reinterpret_cast<const float2*>(undo + map) : float2{0, 0};
    finite = finite && factors.x >= 0 && factors.y >= 0;
    sums[4 * i] *= factors.x;
    sums[4 * i + 1] *= factors.y;
    sums[4 * i + 2] *= factors.x;
    sums[4 * i + 3] *= factors.y;
  }
  const float largest = __uint_as_float(__reduce_max_sync(0xffffffffu, __float_as_uint(seen.largest)));
  const bool fits = largest == 0 || (largest >= kSmall && largest < kLargest);
  if (fits && __all_sync(0xffffffffu, finite)) return;
  float plain[kCount] = {};
  again(plain);
#pragma unroll
  for (int i = 0; i < kCount; ++i) sums[i] = plain[i];
}

/// Adds the products of a K element of the lane's upper or lower pixel to its sums. `slice`: a packed slice of `there`
/// output channels, from the first output channel on.
template <int kCount>
__device__ void add_plainly(float (&sums)[kCount], bool below, float pixel, const __half* slice, int64_t there,
                            int term, const float* undo, int maps) {
#pragma unroll
  for (int i = 0; i < kCount / 2; ++i) {
    const int map = i / 2 * 8 + threadIdx.x % 4 * 2 + i % 2;
    if (map >= maps) continue;
    const __half* filter = slice + HopperSplitHalves::place(map, term);
    const float product = pixel * (HopperSplitHalves::unpacked(filter, there) * fabsf(undo[map]));
    sums[i / 2 * 4 + i % 2] += below ? 0 : product;
    sums[i / 2 * 4 + 2 + i % 2] += below ? product : 0;
  }
}

/// Computes a warp's sums over `part` of K directly, for 16 pixels from `first_row` on and output channels from
/// `first_map` on.
template <class Tile>
__device__ __noinline__ void sum_plainly(float (&sums)[Tile::kMaps / 2], const PixelPlan<typename Tile::Element>& plan,
                                         PartOfSlices<Tile> part, int first_row, int first_map) {
  using Terms = typename Tile::Terms;
  const ConvShape& shape = plan.conv.shape;
  const int64_t there = Terms::maps_there(shape.k);
  const float* undo = igemm_undo<Terms>(plan.conv.w, there, plan.slices) + first_map;
  for (int below = 0; below < 2; ++below) {
    const int row = first_row + threadIdx.x % 32 / 4 + 8 * below;
    if (row >= shape.n * shape.p * shape.q) continue;
    const PixelPlace corner(shape, row);
    for (int slice = part.first; slice < part.last; ++slice) {
      const TermPlace term(plan, slice);
      const int h = corner.top + term.row * shape.dilation_h, w = corner.left + term.column * shape.dilation_w;
      if (h < 0 || h >= shape.h || w < 0 || w >= shape.w) continue;
      const float* x = plan.conv.x + ((int64_t{corner.image} * shape.h + h) * shape.w + w) * plan.conv.x_step;
      const auto* filters = reinterpret_cast<const __half*>(static_cast<const unsigned char*>(plan.conv.w) +
                                                            slice * there * Terms::kSliceBytes) +
                            first_map * Terms::kSlice;
      for (int i = 0; i < Terms::kSlice && term.channel + i < shape.channels; ++i) {
        add_plainly(sums, below == 1, x[term.channel + i], filters, there, i, undo, shape.k - first_map);
      }
    }
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
