#pragma once

// Tiling and operands of hopper_first.cuh. A block computes 8 output rows, one per warp, for some segments of 16
// pixels. The part of the nchw images that it reads, a patch, is copied to shared memory. K is ordered by channel,
// filter row, filter column, in items of 4 bytes: one fp32 element or two adjacent fp16 elements. Filter rows are
// padded with zero items.

#ifdef __CUDACC__

#include <algorithm>
#include <limits>

#include "convlab/base/checked.h"
#include "convlab/kernels/cuda/nhwc/hopper_finish.cuh"
#include "convlab/kernels/cuda/nhwc/hopper_multiply.cuh"
#include "convlab/kernels/cuda/nhwc/hopper_split.cuh"
#include "convlab/kernels/cuda/nhwc/igemm_weights.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

/// A block's tile, for BoxWriter: two warpgroups of 64 pixels each.
template <class Terms, int kMaps>
using FirstTile =
    HopperTile<Terms, 128, kMaps, 2, 1, 0,
               kMaps % kSliceTerms<typename Terms::Element> == 0 ? kMaps / kSliceTerms<typename Terms::Element> : 1>;

constexpr int kFirstThreads = 256, kFirstRows = 8, kSegment = 16;
constexpr int kSliceItems = 32;            // per slice of 128 bytes
constexpr size_t kTwoBlocks = 113 * 1024;  // shared memory of a block, if a multiprocessor has two

template <class Element>
constexpr int kItemTerms = 4 / sizeof(Element);

/// Tiling of a layer.
struct FirstCut {
  int items;       ///< per filter row
  int slices;      ///< along K
  int last_steps;  ///< in the last slice
  int segments, row_tiles, column_tiles, map_tiles;
  int patch_rows, pitch;  ///< rows per channel; elements from one row to the next, even
  int copies;      ///< of the patch; the second is shifted by one element, so that items of all pixels are aligned
  int copy_terms;  ///< elements from one copy to the next

  /// `item_terms`: kItemTerms of the layer's elements.
  FirstCut(const ConvShape& shape, int maps, int segments_, int item_terms)
      : segments(segments_),
        row_tiles(static_cast<int>(ceil_div(shape.p, kFirstRows))),
        column_tiles(static_cast<int>(ceil_div(shape.q, segments * kSegment))),
        map_tiles(static_cast<int>(ceil_div(shape.k, maps))),
        patch_rows((kFirstRows - 1) * shape.stride_h + (shape.r - 1) * shape.dilation_h + 1),
        copies(item_terms == 2 && shape.stride_w % 2 == 1 ? 2 : 1) {
    const auto needed = static_cast<int>(ceil_div(shape.s, item_terms));
    items = needed <= 2 ? needed : static_cast<int>(round_up(needed, 4));
    const auto steps = static_cast<int>(ceil_div(shape.c * shape.r * items, 8));
    slices = static_cast<int>(ceil_div(steps, 4));
    last_steps = steps - (slices - 1) * 4;
    const int columns = (segments * kSegment - 1) * shape.stride_w + items * item_terms;
    pitch = static_cast<int>(round_up(columns, 2));
    const int banks = 32 * item_terms;  // copies are half of the banks apart
    copy_terms = static_cast<int>(round_up(shape.c * patch_rows * pitch, banks)) + banks / 2;
  }

  int64_t blocks(int64_t images) const { return checked_product({images, row_tiles, column_tiles, map_tiles}); }
};

/// Returns the bytes of a tile's filters and their inverse scales.
template <class Tile>
__host__ __device__ int filter_bytes(const FirstCut& cut) {
  return cut.slices * Tile::kB + (Tile::Terms::kScales ? Tile::kMaps * static_cast<int>(sizeof(float)) : 0);
}

template <class Tile>
size_t first_bytes(const FirstCut& cut) {
  return Tile::kBytes + 1024 + static_cast<size_t>(filter_bytes<Tile>(cut)) +
         static_cast<size_t>(cut.slices) * kSliceItems * sizeof(uint2) + sizeof(uint64_t) +
         static_cast<size_t>(cut.copies) * static_cast<size_t>(cut.copy_terms) * sizeof(typename Tile::Element);
}

/// Returns the tiling that takes the least time by a rough estimate: waves of blocks on all multiprocessors, each as
/// long as a block's segments and its start. Tiles of one segment are always a candidate, even if they exceed shared
/// memory.
template <class Tile>
FirstCut cut_first(const ConvShape& shape, int64_t multiprocessors) {
  constexpr int kMostSegments = 14, kBegin = 2;
  const auto with = [&](int segments) {
    return FirstCut(shape, Tile::kMaps, segments, kItemTerms<typename Tile::Element>);
  };
  FirstCut best = with(1);
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int segments = 1; segments <= std::min(kMostSegments, shape.q / kSegment); ++segments) {
    const FirstCut cut = with(segments);
    const int64_t time = ceil_div(cut.blocks(shape.n), 2 * multiprocessors) * (segments + kBegin);
    if (time > least || (segments > 1 && first_bytes<Tile>(cut) > kTwoBlocks)) continue;
    least = time;
    best = cut;
  }
  return best;
}

/// A block's shared memory.
template <class Tile>
struct FirstShared {
  using Element = typename Tile::Element;
  PixelShared<Tile> end;
  unsigned char* filters;
  uint64_t* filters_there;
  uint2* items;  ///< along K: bytes from a pixel's first element on, and the bits of elements that exist
  Element* patch;

  __device__ explicit FirstShared(const FirstCut& cut) {
    filters = aligned_to_rows(end.parts + 1);
    filters_there = reinterpret_cast<uint64_t*>(filters + filter_bytes<Tile>(cut));
    items = reinterpret_cast<uint2*>(filters_there + 1);
    patch = reinterpret_cast<Element*>(items + cut.slices * kSliceItems);
  }
};

/// Converts an element to how it is multiplied: rounded, unless it is split later.
template <class Terms>
__device__ typename Terms::Element first_term(float value) {
  if constexpr (kIsHalf<typename Terms::Element>) {
    return __float2half_rn(value);
  } else if constexpr (Terms::kSplit) {
    return value;
  } else {
    return __uint_as_float(to_tf32(value));
  }
}

/// Packs the filters of all tiles as they are stored in shared memory: slices of 128 bytes per output channel with
/// 16-byte chunks swizzled for wgmma, or the layout of HopperSplitHalves. Each block packs one output channel, or its
/// padding.
template <class Tile>
__global__ void __launch_bounds__(kFirstThreads)
    pack_first(const float* __restrict__ w, unsigned char* __restrict__ packed, const ConvShape shape,
               const FirstCut cut) {
  using Terms = typename Tile::Terms;
  using Element = typename Terms::Element;
  constexpr int kTerms = kSliceTerms<Element>, kChunk = 16 / sizeof(Element);
  const int map = blockIdx.x % Tile::kMaps, of_map = shape.c * shape.r * shape.s;
  const bool exists = blockIdx.x < shape.k;
  unsigned char* const tile = packed + blockIdx.x / Tile::kMaps * int64_t{filter_bytes<Tile>(cut)};
  float factor = 1;
  if constexpr (Terms::kScales) {
    const PlainFilters filters{
        .w = w, .map_step = of_map, .channel_step = 1, .tap_step = 0, .taps = 1, .given = of_map, .channels = of_map};
    float* const undo = reinterpret_cast<float*>(tile + cut.slices * Tile::kB) + map;
    if (exists) {
      factor = scale_map(filters, blockIdx.x, undo);
    } else {
      *undo = 0;
    }
  }
  const int of_row = cut.items * kItemTerms<Element>;
  for (int i = threadIdx.x; i < cut.slices * kTerms; i += kFirstThreads) {
    const int row = i / of_row, s = i % of_row, term = i % kTerms;
    const bool given = exists && row < shape.c * shape.r && s < shape.s;
    const float value = given ? w[int64_t{blockIdx.x} * of_map + row * shape.s + s] * factor : 0.0f;
    unsigned char* const slice = tile + i / kTerms * Tile::kB;
    if constexpr (Terms::kScales) {
      Terms::pack(value, reinterpret_cast<__half*>(slice) + Terms::place(map, term), Tile::kMaps);
    } else {
      const int place = map * kTerms + (term / kChunk ^ map % 8) * kChunk + term % kChunk;
      reinterpret_cast<Element*>(slice)[place] = first_term<Terms>(value);
    }
  }
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

template <class Tile>
__device__ void make_items(const FirstShared<Tile>& shared, const ConvShape& shape, const FirstCut& cut) {
  using Element = typename Tile::Element;
  constexpr int kTerms = kItemTerms<Element>;
  for (int i = threadIdx.x; i < cut.slices * kSliceItems; i += kFirstThreads) {
    const int row = i / cut.items, s = i % cut.items * kTerms;
    const bool exists = row < shape.c * shape.r && s < shape.s;
    const int from = (row / shape.r * cut.patch_rows + row % shape.r * shape.dilation_h) * cut.pitch + s;
    const uint32_t mask = !exists ? 0 : s + kTerms > shape.s ? 0xffffu : 0xffffffffu;
    shared.items[i] = make_uint2(exists ? static_cast<uint32_t>(from * sizeof(Element)) : 0, mask);
  }
}

/// Copies the pixels of `image` from (top, left) on to the patch. Pixels outside the image are zeros.
template <class Tile, class Input>
__device__ void copy_patch(const FirstShared<Tile>& shared, const Input* image, int top, int left,
                           const ConvShape& shape, const FirstCut& cut) {
  for (int row = threadIdx.x / 32; row < shape.c * cut.patch_rows; row += kFirstThreads / 32) {
    const int channel = row / cut.patch_rows, h = top + row % cut.patch_rows;
    const Input* from = image + (int64_t{channel} * shape.h + h) * shape.w + left;
    typename Tile::Element* const to = shared.patch + row * cut.pitch;
    constexpr int kAtOnce = 8;
    for (int first = threadIdx.x % 32; first < cut.pitch; first += 32 * kAtOnce) {
      Input given[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int column = first + 32 * i, w = left + column;
        const bool inside = column < cut.pitch && h >= 0 && h < shape.h && w >= 0 && w < shape.w;
        given[i] = inside ? __ldg(from + column) : Input{};
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int column = first + 32 * i;
        if (column >= cut.pitch) break;
        const auto term = first_term<typename Tile::Terms>(static_cast<float>(given[i]));
        to[column] = term;
        if (cut.copies == 2 && column > 0) to[cut.copy_terms + column - 1] = term;
      }
    }
  }
}

/// A lane's two pixels: the first element of the upper one, and the bytes from there to that of the lower one.
struct FirstPixels {
  const unsigned char* upper;
  int below;

  /// Loads 8 items as an A fragment: of the upper and the lower pixel one of the first 4 items, then one of the others.
  __device__ void load(uint32_t (&to)[4], const uint2* items) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint2 item = items[i / 2 * 4 + threadIdx.x % 4];
      to[i] = *reinterpret_cast<const uint32_t*>(upper + item.x + i % 2 * below) & item.y;
    }
  }
};

/// Steps of a slice of a warp's 16 pixels, in registers as A fragments.
template <class Tile, int kSteps>
class FirstTerms {
 public:
  __device__ FirstTerms(const uint2* items, const FirstPixels& pixels) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) pixels.load(terms_[step], items + 8 * step);
  }

  /// sums += this slice of the pixels * a slice of the filters.
  __device__ void multiply(float (&sums)[Tile::kMaps / 2], PixelOperand b) {
    using Multiply = PixelMultiply<typename Tile::Element, Tile::kMaps>;
    hold(sums);
    fence_multiplications();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      Multiply::run(sums, terms_[step], b.later(step * 2), true);
    }
    commit_multiplications();
    await_multiplications();
    hold(sums);
    // Keeps the compiler from changing the registers before this point.
#pragma unroll
    for (int i = 0; i < 4 * kSteps; ++i) asm volatile("" : "+r"(terms_[i / 4][i % 4])::"memory");
  }

 private:
  uint32_t terms_[kSteps][4];
};

/// sums += a slice of a warp's 16 pixels * a slice of the filters.
template <class Tile>
__device__ void multiply_first(const FirstShared<Tile>& shared, const FirstCut& cut, int slice,
                               const FirstPixels& pixels, float (&sums)[Tile::kMaps / 2]) {
  const uint2* items = shared.items + slice * kSliceItems;
  const PixelOperand b = pixel_operand<1>(to_shared(shared.filters) + slice * Tile::kB);
  const int steps = slice + 1 < cut.slices ? 4 : cut.last_steps;
  if (steps == 4) return FirstTerms<Tile, 4>(items, pixels).multiply(sums, b);
  if (steps == 3) return FirstTerms<Tile, 3>(items, pixels).multiply(sums, b);
  if (steps == 2) return FirstTerms<Tile, 2>(items, pixels).multiply(sums, b);
  FirstTerms<Tile, 1>(items, pixels).multiply(sums, b);
}

/// The same for all slices of split elements. A slice is loaded while the previous one is multiplied.
template <class Tile>
__device__ void multiply_split(const FirstShared<Tile>& shared, const FirstCut& cut, const FirstPixels& pixels,
                               float (&sums)[Tile::kMaps / 2], int maps) {
  using Rows = SplitRows<typename Tile::Terms>;
  float products[Tile::kMaps / 2];  // of four slices: tensor cores truncate, so FADD adds the slices' sums
  Rows even, odd;
  LargestPixel largest;
  const auto load = [&](Rows& rows, int slice) {
    rows.load(largest, [&](uint32_t(&to)[4], int i) { pixels.load(to, shared.items + slice * kSliceItems + 8 * i); });
  };
  const auto multiply = [&](int slice, Rows& rows, Rows& next) {
    const bool last = slice + 1 == cut.slices;
    rows.template multiply<Tile>(
        products, pixel_operand<128 / Tile::Terms::kFilterRow>(to_shared(shared.filters) + slice * Tile::kB),
        last ? cut.last_steps : 4, slice % 4 > 0);
    if (!last) load(next, slice + 1);
    await_multiplications();
    hold(products);
    rows.hold_all();
    if (slice % 4 < 3 && !last) return;
#pragma unroll
    for (int i = 0; i < Tile::kMaps / 2; ++i) sums[i] += products[i];
  };
#pragma unroll
  for (float& sum : sums) sum = 0;
  barrier_of_some(1 + threadIdx.x / 128, 128);  // tells the compiler that all threads have converged here
  load(even, 0);
  for (int slice = 0; slice < cut.slices; slice += 2) {
    multiply(slice, even, odd);
    if (slice + 1 < cut.slices) multiply(slice + 1, odd, even);
  }
  const auto* const undo = reinterpret_cast<const float*>(shared.filters + cut.slices * Tile::kB);
  scale_back(sums, largest, undo, maps, [&](auto& plain) {
    for (int i = 0; i < cut.slices * kSliceItems; ++i) {
      const uint2 item = shared.items[i];
      if (item.y == 0) continue;
      const auto* const filters = reinterpret_cast<const __half*>(shared.filters + i / kSliceItems * Tile::kB);
      for (int below = 0; below < 2; ++below) {
        const float pixel = *reinterpret_cast<const float*>(pixels.upper + item.x + below * pixels.below);
        add_plainly(plain, below == 1, pixel, filters, Tile::kMaps, i % kSliceItems, undo, maps);
      }
    }
  });
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
