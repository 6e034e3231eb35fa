#pragma once

#include "convlab/device/opaque.cuh"
#include "convlab/device/tensor_core.cuh"
#include "convlab/kernels/conv_shape.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Shared-memory staging of the tensor-core rungs: pixels and filters in, results out. tensor_core_tile.cuh explains the
// algorithm.

constexpr int kWarps = 8, kThreads = kWarps * 32;   // per block
constexpr int kTilesOfWarp = 7;                     // tiles of 16 pixels per warp
constexpr int kWarpPixels = kTilesOfWarp * 16;      // per warp
constexpr int kBlockPixels = kWarps * kWarpPixels;  // per block
constexpr int kResultPitch = kWarpPixels + 4;       // a fragment's 8 rows x 4 pairs of output channels use all 32 banks
constexpr int kBlocked = 4;                         // groups of a pixel that are contiguous: what one step reads

struct TensorTile {
  int height, pitch;  // staged pixels: rows, and pixels from one row to the next
  int channels;       // input channels staged at a time
  bool neighbors;     // a group holds adjacent pixels of a row; otherwise, channels of one pixel
};

/// The byte offset of the first word of a lane's group: pixel * stride + offset.
struct GroupPlace {
  int stride, offset;
};

/// Returns the number of groups per pixel.
template <class Arithmetic>
__host__ __device__ int groups_of_pixel(int channels, int width, bool neighbors) {
  constexpr int kGroup = Arithmetic::kGroup;
  return neighbors ? channels * ((width + kGroup - 1) / kGroup) : (channels + kGroup - 1) / kGroup;
}

/// Group `index` of the block's reduction, in the order of multiplication: kBlocked groups of a pixel (or the remaining
/// ones), tap by tap. In each plane, its word of a pixel is at index first + pixel * width; word 0 of a plane is zero.
struct Group {
  int of_pixel, width, tap, first;

  __device__ Group(int index, int groups, int taps, int area) {
    const int block = index / (kBlocked * taps), slot = index - block * kBlocked * taps;
    width = min(kBlocked, groups - block * kBlocked);
    tap = slot / width;
    of_pixel = block * kBlocked + slot % width;
    first = 1 + block * kBlocked * area + slot % width;
  }
};

/// Returns the bits of the larger of two magnitudes; the first is passed as bits. NaN is larger than infinity.
inline __device__ uint32_t larger(uint32_t bits, float value) {
  return max(bits, __float_as_uint(value) & 0x7fffffffu);
}

/// Stages all groups of a band of pixels; (first_h, first_w) is the band's top left corner in the image. Returns the
/// bits of the largest magnitude that this thread has staged, or 0 if Arithmetic::kRanged is false.
template <class Arithmetic, bool kNeighbors>
__device__ uint32_t stage_pixels(const float* __restrict__ image, uint32_t* words, int plane, const ConvShape& shape,
                                 const TensorTile& tile, int channels, int first_h, int first_w) {
  constexpr int kGroup = Arithmetic::kGroup, kBatch = kNeighbors ? 2 : kBlocked;  // groups loaded at a time
  const int area = tile.height * tile.pitch, image_area = shape.h * shape.w;
  const int groups = groups_of_pixel<Arithmetic>(channels, shape.s, kNeighbors);
  const int next_row = kThreads / tile.pitch, next_column = kThreads % tile.pitch;
  int row = threadIdx.x / tile.pitch, column = threadIdx.x % tile.pitch;
  uint32_t largest = 0;
  for (int i = threadIdx.x; i < area; i += kThreads) {
    const int h = first_h + row, w = first_w + column * (kNeighbors ? shape.stride_w : 1);
    const bool inside = h >= 0 && h < shape.h && (kNeighbors || (w >= 0 && w < shape.w));
    const unsigned width_inside = inside ? shape.w : 0;
    const int channels_inside = inside ? channels : 0;
    const float* from = image + (h * shape.w + w);
    opaque(from);      // forces one base address plus offsets, which is shorter code
    int c = 0, s = 0;  // channel or tap of the next group
    for (int first = 0; first < groups; first += kBatch) {
      float value[kBatch][kGroup];
#pragma unroll
      for (int group = 0; group < kBatch; ++group) {
        if constexpr (kNeighbors) {
          const int taps = first + group < groups ? shape.s - s : 0;
#pragma unroll
          for (int term = 0; term < kGroup; ++term) {
            const int across = (s + term) * shape.dilation_w;
            const bool exists = term < taps && static_cast<unsigned>(w + across) < width_inside;
            value[group][term] = exists ? from[across] : 0;
          }
          s += kGroup;
          if (s >= shape.s) {
            s = 0;
            from += image_area;
          }
        } else {
#pragma unroll
          for (int term = 0; term < kGroup; ++term, ++c) {
            value[group][term] = c < channels_inside ? from[c * image_area] : 0;
          }
        }
      }
      const int block = first / kBlocked * kBlocked, width = min(kBlocked, groups - block);
      uint32_t* to = words + 1 + block * area + i * width + (first - block);
#pragma unroll
      for (int group = 0; group < kBatch; ++group) {
        if (first + group >= groups) break;
        if constexpr (Arithmetic::kRanged) {
#pragma unroll
          for (int term = 0; term < kGroup; ++term) largest = larger(largest, value[group][term]);
        }
#pragma unroll
        for (int word = 0; word < Arithmetic::kWords; ++word) {
          to[word * plane + group] = Arithmetic::stage(word, value[group]);
        }
      }
    }
    row += next_row;
    column += next_column;
    if (column >= tile.pitch) {
      column -= tile.pitch;
      ++row;
    }
  }
  return largest;
}

/// Stages the filters of kColumns * 8 output channels, from first_map on, in the order of MMA fragments, and the
/// groups' offsets. `w` points to the weights of the first staged channel. Returns the same as stage_pixels.
template <class Arithmetic, int kColumns>
__device__ uint32_t stage_filters(const float* __restrict__ w, typename Arithmetic::B* filters, GroupPlace* places,
                                  const ConvShape& shape, const TensorTile& tile, int channels, int first_map) {
  constexpr int kGroup = Arithmetic::kGroup;
  const int groups = groups_of_pixel<Arithmetic>(channels, shape.s, tile.neighbors);
  const int taps = tile.neighbors ? shape.r : shape.r * shape.s, area = tile.height * tile.pitch;
  const int steps = (groups * taps + 3) / 4;
  uint32_t largest = 0;
  for (int i = threadIdx.x; i < steps * 4; i += kThreads) {
    const Group group(min(i, groups * taps - 1), groups, taps, area);
    const int r = tile.neighbors ? group.tap : group.tap / shape.s;
    const int s = tile.neighbors ? 0 : group.tap % shape.s;
    const int pixel = r * shape.dilation_h * tile.pitch + s * shape.dilation_w;
    // Past the last group, read zeros, not any pixel times a weight of 0: 0 * NaN is NaN.
    places[i] =
        i < groups * taps ? GroupPlace{group.width * 4, (group.first + pixel * group.width) * 4} : GroupPlace{0, 0};
  }
  const int of_row = (shape.s + kGroup - 1) / kGroup;
  for (int i = threadIdx.x; i < steps * kColumns * 32; i += kThreads) {
    const int map = first_map + i / 32 % kColumns * 8 + i % 32 / 4, index = i / 32 / kColumns * 4 + i % 4;
    const Group group(min(index, groups * taps - 1), groups, taps, area);
    float weight[kGroup];
#pragma unroll
    for (int term = 0; term < kGroup; ++term) {
      const int c = tile.neighbors ? group.of_pixel / of_row : group.of_pixel * kGroup + term;
      const int s = group.of_pixel % of_row * kGroup + term;  // if groups hold adjacent pixels
      const int tap = tile.neighbors ? group.tap * shape.s + s : group.tap;
      const bool exists = index < groups * taps && (tile.neighbors ? s < shape.s : c < channels);
      weight[term] = exists && map < shape.k ? w[(map * shape.c + c) * shape.r * shape.s + tap] : 0;
    }
    if constexpr (Arithmetic::kRanged) {
#pragma unroll
      for (int term = 0; term < kGroup; ++term) largest = larger(largest, weight[term]);
    }
    const typename Arithmetic::B packed = Arithmetic::pack(weight);
    filters[i] = packed;
  }
  return largest;
}

/// Copies a warp's results to y: `maps` rows (output channels) of `count` pixels each, at most kPixels.
template <int kPixels>
__device__ void copy_results(const float* from, float* to, int maps, int count, int image_pixels) {
  const int lane = threadIdx.x % 32;
  if (image_pixels % 4 == 0) {  // each output channel of y starts at a multiple of 16 bytes
    if (lane * 4 >= count) return;
    for (int map = 0; map < maps; ++map, from += kResultPitch, to += image_pixels) {
      *reinterpret_cast<float4*>(to + lane * 4) = *reinterpret_cast<const float4*>(from + lane * 4);
    }
    return;
  }
  for (int map = 0; map < maps; ++map, from += kResultPitch, to += image_pixels) {
    // Start lanes before the first result if needed, so that each store covers one aligned line of 128 bytes.
    const int first = lane - static_cast<int>(reinterpret_cast<uintptr_t>(to) / sizeof(float) % 32);
    const float* lane_from = from + first;
    float* lane_to = to + first;
#pragma unroll
    for (int line = 0; line < kPixels + 32; line += 32) {
      if (static_cast<unsigned>(first + line) < static_cast<unsigned>(count)) lane_to[line] = lane_from[line];
    }
  }
}

/// Writes the sums of a warp's tiles to y through shared memory. `to` points to their first pixel and output channel.
template <int kColumns, int kTiles>
__device__ void store_tiles(const float (&sum)[kTiles][kColumns][4], float* results, float* to, int maps, int count,
                            int image_pixels) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int column = 0; column < kColumns; ++column) {
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        results[(2 * t + j % 2) * kResultPitch + i * 16 + j / 2 * 8 + g] = sum[i][column][j];
      }
    }
    __syncwarp();
    copy_results<kTiles * 16>(results, to + column * 8 * image_pixels, min(8, maps - column * 8),
                              max(0, min(kTiles * 16, count)), image_pixels);
    __syncwarp();
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
