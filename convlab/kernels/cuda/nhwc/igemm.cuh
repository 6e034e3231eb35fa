#pragma once

// Convolution as an implicit GEMM: the im2col matrix is never materialized. A row of A is an output pixel with the K
// elements that its filter reads; a column of B is an output channel. Warps multiply with mma.sync, for compute
// capability 8.0 or later.
//
// The K dimension is ordered (filter row, filter column, channel), so that 16 contiguous bytes, a chunk, belong to one
// pixel. A K slice is 8 chunks of all the tile's pixels and output channels. Threads copy slices asynchronously to a
// ring of kIgemmStages stages in shared memory; a thread copies the same chunk of each slice, for a few pixels and
// output channels. Padding and nonexistent rows are zeros. igemm_terms.cuh defines the element types and how they are
// multiplied.
//
// The sums pass through shared memory, so that in the epilogue a thread adds, activates, rounds and stores 8 output
// channels of one pixel.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cuda/nhwc/igemm_terms.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_conv.h"
#include "convlab/kernels/cuda/nhwc/pixel_end.cuh"
#include "convlab/kernels/ladder/tensor_core_range.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

constexpr int kIgemmStages = 3;

/// A block's tile: kRows output pixels by kMaps output channels. A warp computes kRows / kDown by kMaps / kAcross of
/// these.
template <int kRows_, int kMaps_, int kDown_, int kAcross_>
struct IgemmTile {
  static constexpr int kRows = kRows_, kMaps = kMaps_, kDown = kDown_, kAcross = kAcross_;
  static constexpr int kThreads = kDown * kAcross * 32;
  static constexpr int kWarpRows = kRows / kDown, kWarpMaps = kMaps / kAcross;
  using Part = WarpPart<kWarpRows / 16, kWarpMaps / 8>;  // per warp
  static constexpr int kStageBytes = (kRows + kMaps) * kIgemmChunks * 16;
  static constexpr int kResultPitch = kMaps + 4;  // floats
  static constexpr size_t kBytes = std::max<size_t>(kIgemmStages * kStageBytes, kRows* kResultPitch * 4);
  static constexpr int kRowsEach = kRows * kIgemmChunks / kThreads;  // rows that a thread copies per slice
  static constexpr int kMapsEach = kMaps * kIgemmChunks / kThreads;
  static_assert(kWarpRows % 16 == 0 && kWarpMaps % 16 == 0 && kMapsEach * kThreads == kMaps * kIgemmChunks);
};

/// Split-K partition: part i reduces the contiguous slices from begin(i) to begin(i + 1).
struct IgemmCut {
  int map_tiles;
  int slices;
  int parts;

  __host__ __device__ int begin(int part) const { return static_cast<int>(int64_t{slices} * part / parts); }
};

/// A thread's copies: its chunk of each slice, for some of the tile's pixels and output channels. The packed slices of
/// an output channel are contiguous.
template <class Tile, class Terms>
class IgemmCopies {
 public:
  using Conv = PixelConvOf<typename Terms::Element>;

  __device__ IgemmCopies(const Conv& conv, const IgemmCut& cut, int64_t first_row, int first_map, int group,
                         int first_slice)
      : conv_(conv), chunk_(threadIdx.x % kIgemmChunks), chunks_(conv.shape.channels / Terms::kChunk) {
    const ConvShape& shape = conv.shape;
    const int64_t rows = int64_t{shape.n} * shape.p * shape.q;
#pragma unroll
    for (int i = 0; i < Tile::kRowsEach; ++i) {
      const int64_t row = first_row + line(i);
      const int64_t image = row / (shape.p * shape.q);
      const int pixel = static_cast<int>(row - image * (shape.p * shape.q));
      const int p = pixel / shape.q, q = pixel - p * shape.q;
      // A nonexistent row is placed so far above its image that every filter tap is outside.
      top_[i] = row < rows ? p * shape.stride_h - shape.pad_top : -shape.r * shape.dilation_h;
      left_[i] = q * shape.stride_w - shape.pad_left;
      from_[i] = conv.x + group * shape.channels + (row < rows ? image * shape.h * shape.w * conv.x_step : 0);
    }
#pragma unroll
    for (int i = 0; i < Tile::kMapsEach; ++i) {
      const int map = first_map + line(i);
      map_exists_[i] = map < shape.maps;
      const int64_t slice = int64_t{map_exists_[i] ? group * shape.maps + map : 0} * cut.slices + first_slice;
      w_[i] = static_cast<const uint4*>(conv.w) + slice * kIgemmChunks + chunk_;
    }
    place_ = first_slice * kIgemmChunks + chunk_;
    places_ = shape.r * shape.s * chunks_;
    const int tap = place_ / chunks_;
    channel_ = place_ - tap * chunks_;
    r_ = tap / shape.s;
    s_ = tap - r_ * shape.s;
  }

  /// Begins the copies of the next slice.
  __device__ void begin(SharedAddress stage) {
    const ConvShape& shape = conv_.shape;
    const bool exists = place_ < places_;
    const int down = r_ * shape.dilation_h, across = s_ * shape.dilation_w;
#pragma unroll
    for (int i = 0; i < Tile::kRowsEach; ++i) {
      const int h = top_[i] + down, w = left_[i] + across;
      const bool inside = exists && static_cast<unsigned>(h) < static_cast<unsigned>(shape.h) &&
                          static_cast<unsigned>(w) < static_cast<unsigned>(shape.w);
      const auto* from =
          inside ? from_[i] + (int64_t{h} * shape.w + w) * conv_.x_step + channel_ * Terms::kChunk : conv_.x;
      copy_async(chunk_in_stage(stage, line(i), chunk_), reinterpret_cast<const uint4*>(from), inside);
    }
#pragma unroll
    for (int i = 0; i < Tile::kMapsEach; ++i) {
      copy_async(chunk_in_stage(stage, Tile::kRows + line(i), chunk_), w_[i], map_exists_[i]);
      w_[i] += kIgemmChunks;
    }
    place_ += kIgemmChunks;
    channel_ += kIgemmChunks;
    while (channel_ >= chunks_) {
      channel_ -= chunks_;
      if (++s_ == shape.s) {
        s_ = 0;
        ++r_;
      }
    }
  }

 private:
  static __device__ int line(int i) { return threadIdx.x / kIgemmChunks + i * (Tile::kThreads / kIgemmChunks); }

  const Conv& conv_;
  const int chunk_, chunks_;  // index in the slice; chunks per pixel
  const typename Terms::Element* from_[Tile::kRowsEach];
  int top_[Tile::kRowsEach], left_[Tile::kRowsEach];
  const uint4* w_[Tile::kMapsEach];
  bool map_exists_[Tile::kMapsEach];
  int place_, places_, channel_, r_, s_;
};

/// Arguments that are not part of the convolution itself.
struct IgemmExtra {
  float* parts;       ///< split-K partial sums, if any: [part][pixel][output channel of all groups]
  const float* undo;  ///< inverse filter scales, if Terms::kScales; see igemm_weights.cuh
  uint32_t* marks;    ///< if Terms::kScales: nonzero for tiles with values outside fp16 range, [group][tile]
};

/// Grid: x = tiles, output channels fastest; y = split-K parts; z = groups.
template <class Tile, class Terms>
__global__ void __launch_bounds__(Tile::kThreads, 512 / Tile::kThreads)
    convolve_igemm(const __grid_constant__ PixelConvOf<typename Terms::Element> conv, const IgemmCut cut,
                   const IgemmExtra extra) {
  using Part = typename Tile::Part;
  const ConvShape& shape = conv.shape;
  const SharedAddress stages = to_shared(dynamic_shared<unsigned char>());
  const int tile = blockIdx.x / cut.map_tiles, part = blockIdx.y, group = blockIdx.z;
  const int first_map = static_cast<int>(blockIdx.x - tile * cut.map_tiles) * Tile::kMaps;
  const int64_t first_row = int64_t{tile} * Tile::kRows;
  const int first = cut.begin(part), slices = cut.begin(part + 1) - first;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const Part mine{.rows = warp / Tile::kAcross * Tile::kWarpRows,
                  .maps = Tile::kRows + warp % Tile::kAcross * Tile::kWarpMaps};

  IgemmCopies<Tile, Terms> copies(conv, cut, first_row, first_map, group, first);
  for (int slice = 0; slice < kIgemmStages - 1; ++slice) {
    if (slice < slices) copies.begin(stages + slice * Tile::kStageBytes);
    __pipeline_commit();
  }
  typename Part::Sum sum = {};
  typename Terms::Seen seen;
  int stage = 0;
  for (int slice = 0; slice < slices; ++slice) {
    __pipeline_wait_prior(kIgemmStages - 2);  // this thread's copies of the slice have arrived,
    __syncthreads();  // all others' too, and no thread still reads the stage that is filled next
    if (slice + kIgemmStages - 1 < slices) {
      copies.begin(stages + (stage + kIgemmStages - 1) % kIgemmStages * Tile::kStageBytes);
    }
    __pipeline_commit();
    Terms::multiply(sum, stages + stage * Tile::kStageBytes, mine, seen);
    stage = (stage + 1) % kIgemmStages;
  }
  __pipeline_wait_prior(0);
  __syncthreads();
  if constexpr (Terms::kScales) {
    for (int map = threadIdx.x; map < Tile::kMaps && first_map + map < shape.maps; map += Tile::kThreads) {
      if (extra.undo[group * shape.maps + first_map + map] < 0) seen.add(0x7fffffffu);
    }
    // Another split-K part may set it, too.
    if (out_of_range(seen.largest) && threadIdx.x == 0) atomicOr(extra.marks + group * gridDim.x + blockIdx.x, 1u);
  }

  float* results = dynamic_shared<float>();
#pragma unroll
  for (int i = 0; i < Tile::kWarpRows / 16; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kWarpMaps / 8; ++j) {
      const int row = mine.rows + i * 16 + lane / 4, map = mine.maps - Tile::kRows + j * 8 + lane % 4 * 2;
      float* to = results + row * Tile::kResultPitch + map;
      *reinterpret_cast<float2*>(to) = {sum[i][j][0], sum[i][j][1]};
      *reinterpret_cast<float2*>(to + 8 * Tile::kResultPitch) = {sum[i][j][2], sum[i][j][3]};
    }
  }
  __syncthreads();
  const int64_t rows = int64_t{shape.n} * shape.p * shape.q;
  for (int i = threadIdx.x; i < Tile::kRows * (Tile::kMaps / 8); i += Tile::kThreads) {
    const int line = i / (Tile::kMaps / 8), map = i % (Tile::kMaps / 8) * 8;
    const int64_t row = first_row + line;
    if (row >= rows || first_map + map >= shape.maps) continue;
    float values[8];
    load_eight(results + line * Tile::kResultPitch + map, values);
    const int of_all = group * shape.maps + first_map + map;
    if constexpr (Terms::kScales) {
#pragma unroll
      for (int j = 0; j < 8; ++j) values[j] *= of_all + j < shape.k ? extra.undo[of_all + j] : 0;
    }
    if (cut.parts == 1) {
      finish_pixel(conv, values, row, of_all);
    } else {
      leave_part(shape.k, values, extra.parts + part * rows * shape.k, row, of_all);
    }
  }
}

/// Adds the split-K parts in a fixed order. A thread finishes 8 output channels of a pixel.
template <class Element>
__global__ void __launch_bounds__(256)
    add_igemm_parts(const __grid_constant__ PixelConvOf<Element> conv, const float* __restrict__ parts, int count) {
  const ConvShape& shape = conv.shape;
  const int64_t rows = int64_t{shape.n} * shape.p * shape.q, across = (shape.k + 7) / 8;
  const int64_t i = int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i >= rows * across) return;
  const int64_t row = i / across;
  const int map = static_cast<int>(i - row * across) * 8;
  float values[8] = {};
  for (int part = 0; part < count; ++part) {
    const float* from = parts + (part * rows + row) * shape.k + map;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (map + j < shape.k) values[j] += from[j];
    }
  }
  finish_pixel(conv, values, row, map);
}

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
