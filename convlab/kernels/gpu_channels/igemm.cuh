#pragma once

// A convolution as a product of matrices that nobody writes down (implicit GEMM): a row of A is an output pixel with all that
// its filter meets, a column of B is a map. On tensor cores, by warps: compute capability 8.0.
//
// Terms are in the order (row of the filter, column, channel), so that 8 of them are 16 bytes of one pixel, a chunk. A slice is
// 8 chunks of all the tile's pixels and maps. Threads copy slices into shared memory, kIgemmStages of them in turns: a thread
// takes the same chunk of each, of a few pixels and maps. Chunk c of row i lies at c ^ i % 8 there, so that eight rows' chunks
// are in different banks, for copies and for load_matrices. What lies outside of an image, and rows that do not exist, are
// zeros.
//
// Sums pass through shared memory, so that a thread finishes 8 maps of one pixel: adds, activates, rounds and stores 16 bytes.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/tensor_core.cuh"
#include "convlab/kernels/gpu_channels/pixel_conv.h"
#include "convlab/kernels/gpu_channels/pixel_end.cuh"

namespace convlab {
namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

constexpr int kIgemmStages = 3;
constexpr int kIgemmChunks = 8;  // of a slice: 64 terms, 128 bytes of a row

/// A block's tile: kRows output pixels by kMaps maps; a warp makes kRows / kDown of these by kMaps / kAcross.
template <int kRows_, int kMaps_, int kDown_, int kAcross_>
struct IgemmTile {
  static constexpr int kRows = kRows_, kMaps = kMaps_, kDown = kDown_, kAcross = kAcross_;
  static constexpr int kThreads = kDown * kAcross * 32;
  static constexpr int kWarpRows = kRows / kDown, kWarpMaps = kMaps / kAcross;
  static constexpr int kStageBytes = (kRows + kMaps) * kIgemmChunks * 16;
  static constexpr int kResultPitch = kMaps + 4;  // floats
  static constexpr size_t kBytes = std::max<size_t>(kIgemmStages * kStageBytes, kRows * kResultPitch * 4);
  static constexpr int kRowsEach = kRows * kIgemmChunks / kThreads;  // that a thread copies
  static constexpr int kMapsEach = kMaps * kIgemmChunks / kThreads;
  static_assert(kWarpRows % 16 == 0 && kWarpMaps % 16 == 0 && kMapsEach * kThreads == kMaps * kIgemmChunks);
};

/// Where the slices of a convolution's sums are cut: a block of part i computes some of them in a row.
struct IgemmCut {
  int map_tiles;
  int slices;
  int parts;

  __host__ __device__ int begin(int part) const { return static_cast<int>(int64_t{slices} * part / parts); }
};

/// A thread's copies: its chunk of each slice, of some of the tile's pixels and maps.
template <class Tile>
class IgemmCopies {
 public:
  __device__ IgemmCopies(const PixelConv& conv, int64_t first_row, int first_map, int group, int first_slice)
      : conv_(conv), chunk_(threadIdx.x % kIgemmChunks), chunks_(conv.shape.channels / 8) {
    const ConvShape& shape = conv.shape;
    const int64_t rows = int64_t{shape.n} * shape.p * shape.q;
#pragma unroll
    for (int i = 0; i < Tile::kRowsEach; ++i) {
      const int64_t row = first_row + line(i);
      const int64_t image = row / (shape.p * shape.q);
      const int pixel = static_cast<int>(row - image * (shape.p * shape.q));
      const int p = pixel / shape.q, q = pixel - p * shape.q;
      // A row that does not exist is above its image, wherever the filter is.
      top_[i] = row < rows ? p * shape.stride_h - shape.pad_top : -shape.r * shape.dilation_h;
      left_[i] = q * shape.stride_w - shape.pad_left;
      from_[i] = conv.x + group * shape.channels + (row < rows ? image * shape.h * shape.w * conv.x_step : 0);
    }
    const int64_t terms = int64_t{shape.r} * shape.s * shape.channels;
#pragma unroll
    for (int i = 0; i < Tile::kMapsEach; ++i) {
      const int map = first_map + line(i);
      map_exists_[i] = map < shape.maps;
      w_[i] = static_cast<const __half*>(conv.w) + (map_exists_[i] ? group * shape.maps + map : 0) * terms;
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
      const __half* from = inside ? from_[i] + (int64_t{h} * shape.w + w) * conv_.x_step + channel_ * 8 : conv_.x;
      copy_async(stage + to(line(i)), reinterpret_cast<const uint4*>(from), inside);
    }
#pragma unroll
    for (int i = 0; i < Tile::kMapsEach; ++i) {
      const bool inside = exists && map_exists_[i];
      copy_async(stage + to(Tile::kRows + line(i)),
                 reinterpret_cast<const uint4*>(w_[i] + (inside ? int64_t{place_} * 8 : 0)), inside);
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
  __device__ int to(int line) const { return (line * kIgemmChunks + (chunk_ ^ line % kIgemmChunks)) * 16; }

  const PixelConv& conv_;
  const int chunk_, chunks_;  // of the slice, and of a pixel
  const __half* from_[Tile::kRowsEach];
  int top_[Tile::kRowsEach], left_[Tile::kRowsEach];
  const __half* w_[Tile::kMapsEach];
  bool map_exists_[Tile::kMapsEach];
  int place_, places_, channel_, r_, s_;
};

/// A warp's part of the tile: sum += a slice's rows * a slice's maps.
template <class Tile>
__device__ void multiply_slice(float (&sum)[Tile::kWarpRows / 16][Tile::kWarpMaps / 8][4], SharedAddress stage) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_row = warp / Tile::kAcross * Tile::kWarpRows + lane % 16;
  const int first_map = Tile::kRows + warp % Tile::kAcross * Tile::kWarpMaps + lane % 8 + lane / 16 * 8;
  const auto chunk_of = [stage](int line, int chunk) {
    return stage + (line * kIgemmChunks + (chunk ^ line % kIgemmChunks)) * 16;
  };
#pragma unroll
  for (int step = 0; step < kIgemmChunks; step += 2) {
    uint32_t rows[Tile::kWarpRows / 16][4], maps[Tile::kWarpMaps / 16][4];
#pragma unroll
    for (int i = 0; i < Tile::kWarpRows / 16; ++i) load_matrices(rows[i], chunk_of(first_row + 16 * i, step + lane / 16));
#pragma unroll
    for (int i = 0; i < Tile::kWarpMaps / 16; ++i) {
      load_matrices(maps[i], chunk_of(first_map + 16 * i, step + lane / 8 % 2));
    }
#pragma unroll
    for (int i = 0; i < Tile::kWarpRows / 16; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kWarpMaps / 8; ++j) {
        const uint32_t map[2] = {maps[j / 2][j % 2 * 2], maps[j / 2][j % 2 * 2 + 1]};
        mma_fp16(sum[i][j], rows[i], map, sum[i][j]);
      }
    }
  }
}

/// Blocks: x tiles, maps first; y parts of the sums; z groups. With one part it writes `end`, else `parts`: each its sums of
/// all pixels and maps, [part][pixel][map of all groups].
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, 512 / Tile::kThreads)
    convolve_igemm(const __grid_constant__ PixelConv conv, const IgemmCut cut, float* __restrict__ parts) {
  const SharedAddress stages = to_shared(dynamic_shared<unsigned char>());
  const int tile = blockIdx.x / cut.map_tiles, part = blockIdx.y, group = blockIdx.z;
  const int first_map = static_cast<int>(blockIdx.x - tile * cut.map_tiles) * Tile::kMaps;
  const int64_t first_row = int64_t{tile} * Tile::kRows;
  const int first = cut.begin(part), slices = cut.begin(part + 1) - first;

  IgemmCopies<Tile> copies(conv, first_row, first_map, group, first);
  for (int slice = 0; slice < kIgemmStages - 1; ++slice) {
    if (slice < slices) copies.begin(stages + slice * Tile::kStageBytes);
    __pipeline_commit();
  }
  float sum[Tile::kWarpRows / 16][Tile::kWarpMaps / 8][4] = {};
  int stage = 0;
  for (int slice = 0; slice < slices; ++slice) {
    __pipeline_wait_prior(kIgemmStages - 2);  // this thread's copies of the slice are there,
    __syncthreads();                          // the others', too, and nobody reads the stage before any more
    if (slice + kIgemmStages - 1 < slices) {
      copies.begin(stages + (stage + kIgemmStages - 1) % kIgemmStages * Tile::kStageBytes);
    }
    __pipeline_commit();
    multiply_slice<Tile>(sum, stages + stage * Tile::kStageBytes);
    stage = (stage + 1) % kIgemmStages;
  }
  __pipeline_wait_prior(0);
  __syncthreads();

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float* results = dynamic_shared<float>();
#pragma unroll
  for (int i = 0; i < Tile::kWarpRows / 16; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kWarpMaps / 8; ++j) {
      const int row = warp / Tile::kAcross * Tile::kWarpRows + i * 16 + lane / 4;
      const int map = warp % Tile::kAcross * Tile::kWarpMaps + j * 8 + lane % 4 * 2;
      float* to = results + row * Tile::kResultPitch + map;
      *reinterpret_cast<float2*>(to) = {sum[i][j][0], sum[i][j][1]};
      *reinterpret_cast<float2*>(to + 8 * Tile::kResultPitch) = {sum[i][j][2], sum[i][j][3]};
    }
  }
  __syncthreads();
  const ConvShape& shape = conv.shape;
  const int64_t rows = int64_t{shape.n} * shape.p * shape.q;
  for (int i = threadIdx.x; i < Tile::kRows * (Tile::kMaps / 8); i += Tile::kThreads) {
    const int line = i / (Tile::kMaps / 8), map = i % (Tile::kMaps / 8) * 8;
    const int64_t row = first_row + line;
    if (row >= rows || first_map + map >= shape.maps) continue;
    float values[8];
    const float* from = results + line * Tile::kResultPitch + map;
    *reinterpret_cast<float4*>(values) = *reinterpret_cast<const float4*>(from);
    *reinterpret_cast<float4*>(values + 4) = *reinterpret_cast<const float4*>(from + 4);
    const int of_all = group * shape.maps + first_map + map;
    if (cut.parts == 1) {
      finish_pixel(conv, values, row, of_all);
    } else {
      leave_part(conv, values, parts + part * rows * shape.k, row, of_all);
    }
  }
}

/// Adds up the parts, in their order. A thread finishes 8 maps of a pixel.
__global__ void __launch_bounds__(256)
    add_igemm_parts(const __grid_constant__ PixelConv conv, const float* __restrict__ parts, int count) {
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
