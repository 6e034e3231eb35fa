#pragma once

// How blocks of hopper_first.cuh cut a network's first layer. A block makes 8 output rows, a warp each, of some segments of 16
// pixels. What these read of plain images, a patch, is copied to shared memory. Terms of a sum follow filters channel by
// channel, row by row. They come in items of 4 bytes, a term of float32 or two neighbours of fp16; rows are filled up
// with items of zeros.

#ifdef __CUDACC__

#include <algorithm>
#include <limits>

#include "convlab/base/checked.h"
#include "convlab/kernels/gpu_channels/hopper_finish.cuh"
#include "convlab/kernels/gpu_channels/hopper_multiply.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

/// A block's tile, for BoxWriter: two warpgroups of 64 pixels each.
template <class Terms, int kMaps>
using FirstTile =
    HopperTile<Terms, 128, kMaps, 2, 1, 0,
               kMaps % kSliceTerms<typename Terms::Element> == 0 ? kMaps / kSliceTerms<typename Terms::Element> : 1>;

constexpr int kFirstThreads = 256, kFirstRows = 8, kSegment = 16;
constexpr int kSliceItems = 32;            // of a slice of 128 bytes
constexpr size_t kTwoBlocks = 113 * 1024;  // shared memory of a block, where a multiprocessor has two

template <class Element>
constexpr int kItemTerms = 4 / sizeof(Element);

/// A layer cut into tiles.
struct FirstCut {
  int items;       ///< of a filter's row
  int slices;      ///< of a sum
  int last_steps;  ///< of the last slice
  int segments, row_tiles, column_tiles, map_tiles;
  int patch_rows, pitch;  ///< of each channel; from a row to the next, even
  int copies;             ///< of the patch; the second is shifted by a term, so that items of all pixels are aligned
  int copy_terms;         ///< from one to the next

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
    const int banks = 32 * item_terms;  // copies lie half of all banks apart
    copy_terms = static_cast<int>(round_up(shape.c * patch_rows * pitch, banks)) + banks / 2;
  }

  int64_t blocks(int64_t images) const { return checked_product({images, row_tiles, column_tiles, map_tiles}); }
};

/// Bytes of a tile's filters.
template <class Tile>
__host__ __device__ int filter_bytes(const FirstCut& cut) {
  return cut.slices * Tile::kB;
}

template <class Tile>
size_t first_bytes(const FirstCut& cut) {
  return Tile::kBytes + 1024 + static_cast<size_t>(filter_bytes<Tile>(cut)) +
         static_cast<size_t>(cut.slices) * kSliceItems * sizeof(uint2) + sizeof(uint64_t) +
         static_cast<size_t>(cut.copies) * static_cast<size_t>(cut.copy_terms) * sizeof(typename Tile::Element);
}

/// The cut that takes least time by a rough count: rounds of blocks on all multiprocessors, each as long as its segments and
/// what begins a block. Tiles of one segment always are an answer; they may take more shared memory than there is.
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
  uint2* items;  ///< of a sum: bytes from a pixel's first term on, and the bits of its terms that exist
  Element* patch;

  __device__ explicit FirstShared(const FirstCut& cut) {
    filters = aligned_to_rows(end.parts + 1);
    filters_there = reinterpret_cast<uint64_t*>(filters + filter_bytes<Tile>(cut));
    items = reinterpret_cast<uint2*>(filters_there + 1);
    patch = reinterpret_cast<Element*>(items + cut.slices * kSliceItems);
  }
};

/// A term as it is multiplied: rounded, unless it is split later.
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

/// Filters of all tiles of maps, as they lie in shared memory: slices of 128 bytes a map, whose chunks of 16 bytes are
/// permuted as wgmma takes them. Of split terms a slice's rests follow it.
template <class Terms, class Tile>
__global__ void __launch_bounds__(kFirstThreads)
    pack_first(const float* __restrict__ w, typename Terms::Element* __restrict__ packed, const ConvShape shape,
               const FirstCut cut, const int64_t count) {
  using Element = typename Terms::Element;
  constexpr int kTerms = kSliceTerms<Element>, kChunk = 16 / sizeof(Element), kSlice = Tile::kB / sizeof(Element);
  const int64_t i = int64_t{blockIdx.x} * kFirstThreads + threadIdx.x;
  if (i >= count) return;
  const int term = static_cast<int>(i % kTerms), map = static_cast<int>(i / kTerms % Tile::kMaps);
  const int64_t slice = i / kTerms / Tile::kMaps;  // of all tiles
  const int of_row = cut.items * kItemTerms<Element>;
  const int of_sum = static_cast<int>(slice % cut.slices) * kTerms + term, row = of_sum / of_row, s = of_sum % of_row;
  const int64_t of_all = slice / cut.slices * Tile::kMaps + map;
  const bool exists = of_all < shape.k && row < shape.c * shape.r && s < shape.s;
  const float value = exists ? w[(of_all * shape.c * shape.r + row) * shape.s + s] : 0.0f;
  Element* const to = packed + slice * kSlice + map * kTerms + (term / kChunk ^ map % 8) * kChunk + term % kChunk;
  if constexpr (Terms::kSplit) {
    const SplitTf32 split(value);
    to[0] = __uint_as_float(split.large);
    to[Tile::kMaps * kTerms] = __uint_as_float(split.rest);
  } else {
    *to = first_term<Terms>(value);
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

/// Copies what pixels of `image` from (top, left) on are read to the patch; outside of the image are zeros.
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

/// Steps of a slice: of a warp's 16 pixels in registers, as wgmma takes them.
template <class Tile, int kSteps>
class FirstTerms {
 public:
  /// `pixel`: the first term of the lane's upper pixel; `below`: bytes from there to that of the lower one.
  __device__ FirstTerms(const uint2* items, const unsigned char* pixel, int below) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const uint2 item = items[8 * step + 4 * half + threadIdx.x % 4];
        set(step, 2 * half, *reinterpret_cast<const uint32_t*>(pixel + item.x) & item.y);
        set(step, 2 * half + 1, *reinterpret_cast<const uint32_t*>(pixel + item.x + below) & item.y);
      }
    }
  }

  /// sums (add ? += : =) these terms times a slice of maps.
  __device__ void multiply(float (&sums)[Tile::kMaps / 2], SharedAddress b, bool add) {
    using Multiply = PixelMultiply<typename Tile::Element, Tile::kMaps>;
    hold(sums);
    fence_multiplications();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const uint64_t maps = pixel_operand<1>(b) + step * 2;
      if constexpr (Tile::Terms::kSplit) {
        Multiply::run(sums, rest_[step], maps, add || step > 0);
        Multiply::run(sums, terms_[step], maps + Tile::kMapBytes / 16, true);
        Multiply::run(sums, terms_[step], maps, true);
      } else {
        Multiply::run(sums, terms_[step], maps, add || step > 0);
      }
    }
    commit_multiplications();
    await_multiplications();
    hold(sums);
    // The registers stay what they are until here.
#pragma unroll
    for (int i = 0; i < 4 * kSteps; ++i) asm volatile("" : "+r"(terms_[i / 4][i % 4])::"memory");
    if constexpr (Tile::Terms::kSplit) {
#pragma unroll
      for (int i = 0; i < 4 * kSteps; ++i) asm volatile("" : "+r"(rest_[i / 4][i % 4])::"memory");
    }
  }

 private:
  __device__ void set(int step, int i, uint32_t bits) {
    if constexpr (Tile::Terms::kSplit) {
      const SplitTf32 split(__uint_as_float(bits));
      terms_[step][i] = split.large;
      rest_[step][i] = split.rest;
    } else {
      terms_[step][i] = bits;
    }
  }

  uint32_t terms_[kSteps][4], rest_[Tile::Terms::kSplit ? kSteps : 1][4];
};

/// sums (add ? += : =) a warp's 16 pixels times a slice of maps. `pixel`, `below`: as FirstTerms takes them.
template <class Tile>
__device__ void multiply_first(const FirstShared<Tile>& shared, const FirstCut& cut, int slice,
                               const unsigned char* pixel, int below, float (&sums)[Tile::kMaps / 2], bool add) {
  const uint2* items = shared.items + slice * kSliceItems;
  const SharedAddress b = to_shared(shared.filters) + slice * Tile::kB;
  const int steps = slice + 1 < cut.slices ? 4 : cut.last_steps;
  if (steps == 4) return FirstTerms<Tile, 4>(items, pixel, below).multiply(sums, b, add);
  if (steps == 3) return FirstTerms<Tile, 3>(items, pixel, below).multiply(sums, b, add);
  if (steps == 2) return FirstTerms<Tile, 2>(items, pixel, below).multiply(sums, b, add);
  FirstTerms<Tile, 1>(items, pixel, below).multiply(sums, b, add);
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
