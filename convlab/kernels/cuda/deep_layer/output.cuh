#pragma once

#include "convlab/kernels/cuda/deep_layer/deep_layer.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Epilogue of deep_layer.cuh's consumers. sum[row][column][i] of lane (g, t) is of position g, or g + 8 if i >= 2, and
// of output channel column * 8 + 2 * t, or the next if i is odd.

/// Returns max(value, least), or NaN if the value is NaN.
inline __device__ float at_least(float value, float least) {
#ifdef __CUDACC__
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(value) : "f"(least));
  return value;
#else
  return value < least ? least : value;
#endif
}

/// Converts sums to outputs.
struct Finish {
  float unscale;
  const float* bias;  ///< of the block's output channels, in shared memory
  int first_map;      ///< of the block
  float least;        ///< lower bound of outputs: 0 with ReLU, otherwise -infinity

  /// Converts all sums of a unit.
  template <int kColumns, int kRows>
  __device__ void operator()(float (&sum)[kRows][kColumns][4]) const {
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
      const float2 of_map = *reinterpret_cast<const float2*>(bias + column * 8 + threadIdx.x % 4 * 2);
#pragma unroll
      for (int i = 0; i < kRows * 4; ++i) {
        float& value = sum[i / 4][column][i % 4];
        value = value * unscale + (i % 2 == 0 ? of_map.x : of_map.y);
      }
    }
    if (least < 0) return;
#pragma unroll
    for (int i = 0; i < kRows * kColumns * 4; ++i) {
      float& value = sum[i / 4 / kColumns][i / 4 % kColumns][i % 4];
      value = at_least(value, least);
    }
  }
};

/// A part of a task's results that is contiguous in shared memory and in y.
struct ResultSpan {
  char* to;
  const char* from;
  int bytes;
};

/// One warp copies a span from shared memory; then `from` may be written again. Other warps must have written there
/// before and, on GPUs, called fence_for_async() since.
inline __device__ void copy_span(const ResultSpan& span) {
  const int lane = threadIdx.x % 32;
  const auto together = reinterpret_cast<uintptr_t>(span.to) | reinterpret_cast<uintptr_t>(span.from) |
                        static_cast<uintptr_t>(span.bytes);
  if (kBulkCopies && together % 16 == 0) {
    if (lane == 0) copy_bulk(span.to, span.from, span.bytes);
    __syncwarp();
  } else if (together % 16 == 0) {
    for (int at = lane * 16; at < span.bytes; at += 32 * 16) {
      *reinterpret_cast<uint4*>(span.to + at) = *reinterpret_cast<const uint4*>(span.from + at);
    }
  } else {
    for (int at = lane * 4; at < span.bytes; at += 32 * 4) {
      *reinterpret_cast<uint32_t*>(span.to + at) = *reinterpret_cast<const uint32_t*>(span.from + at);
    }
  }
}

/// Returns whether all positions of a unit, which lanes 0 to 15 have in `at`, have all of its rows; uniform across the
/// warp.
template <int kRows>
__device__ bool is_whole(const Task& task, const Position<kRows>& at) {
  return __all_sync(0xffffffffu, at.exists && at.row + kRows <= task.rows);
}

/// nchw8c float16. Staged as in y: [block][row of the task][column], in slots of 16 bytes, or of 8 in
/// a last block of at most 4 output channels.
template <int kColumns, int kRows>
struct BlocksOutput {
  static __host__ __device__ int bytes(const DeepLayer& layer) { return kColumns * layer.result_rows() * layer.q * 16; }

  static __device__ void store(const float (&value)[kRows][kColumns][4], const DeepLayer& layer, const Task& task,
                               int unit, const Position<kRows>& at, int first_map, char* results) {
    if (layer.k - first_map >= kColumns * 8 && is_whole(task, at)) {
      store_whole(value, layer, task, at, results);
    } else {
      store_part(value, layer, task, unit, first_map, results);
    }
  }

  /// Stores 16 slots at a time: 8 x 8 matrices of positions and output channels.
  static __device__ void store_whole(const float (&value)[kRows][kColumns][4], const DeepLayer& layer, const Task& task,
                                     const Position<kRows>& at, char* results) {
    constexpr int kTiles = kRows * kColumns;  // of 16 positions by 8 output channels, two at a time
    const int lane = threadIdx.x % 32, block_bytes = task.rows * layer.q * 16;
    const SharedAddress first = to_shared(results) + (at.row * layer.q + at.column) * 16;
    const auto to = [&](int tile) { return first + tile / kRows * block_bytes + tile % kRows * layer.q * 16; };
    const auto pair = [&](int tile, int half) {
      const float(&of)[4] = value[tile % kRows][tile / kRows];
      return half_pair(of[half * 2], of[half * 2 + 1]);
    };
#pragma unroll
    for (int tile = 0; tile + 1 < kTiles; tile += 2) {
      const uint32_t pairs[4] = {pair(tile, 0), pair(tile, 1), pair(tile + 1, 0), pair(tile + 1, 1)};
      store_matrices(lane < 16 ? to(tile) : to(tile + 1), pairs);
    }
    if constexpr (kTiles % 2 == 1) {
      const uint32_t pairs[2] = {pair(kTiles - 1, 0), pair(kTiles - 1, 1)};
      store_matrices(to(kTiles - 1), pairs);
    }
  }

  static __device__ void store_part(const float (&value)[kRows][kColumns][4], const DeepLayer& layer, const Task& task,
                                    int unit, int first_map, char* results) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, block_bytes = task.rows * layer.q * 16;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Position<kRows> at(layer, task, unit * 16 + half * 8 + g);
      const int rows = at.exists ? task.rows - at.row : 0;  // rows from this position on
      char* block = results;
#pragma unroll
      for (int column = 0; column < kColumns; ++column, block += block_bytes) {
        const int maps = layer.k - first_map - column * 8;  // output channels left
        const int slot_bytes = maps <= 4 ? 8 : 16;
        // Output channels that do not exist are zero, whatever was summed.
        const uint32_t keep = 2 * t + 1 < maps ? ~0u : 2 * t < maps ? 0xffffu : 0;
        char* to = block + (at.row * layer.q + at.column) * slot_bytes + t * 4;
        const bool exists = t * 4 < slot_bytes && maps > 0;
#pragma unroll
        for (int j = 0; j < kRows; ++j, to += layer.q * slot_bytes) {
          const uint32_t pair = half_pair(value[j][column][half * 2], value[j][column][half * 2 + 1]);
          if (j < rows && exists) *reinterpret_cast<uint32_t*>(to) = pair & keep;
        }
      }
    }
  }

  /// One warp copies the staged results to y.
  static __device__ void drain(const DeepLayer& layer, const Task& task, int first_map, void* y, char* results) {
    const int area = layer.p * layer.q, slots = task.rows * layer.q;
    const int maps = (layer.k + 3) / 4 * 4, here = min(kColumns * 8, maps - first_map);
    const int image_bytes = (maps * area + 63) / 64 * 128, used = maps * area * 2;
    char* image = static_cast<char*>(y) + static_cast<int64_t>(task.image) * image_bytes;
    const bool last = first_map + here == maps && task.first_row + task.rows == layer.p;
    if (layer.bands == 1) {
      copy_span({image + first_map * area * 2, results, here * area * 2});
    } else {
      for (int map = 0; map < here; map += 8) {
        const int slot_bytes = min(16, (here - map) * 2);
        copy_span({image + (first_map + map) * area * 2 + task.first_row * layer.q * slot_bytes,
                   results + map / 8 * slots * 16, slots * slot_bytes});
      }
    }
    const int at = used + threadIdx.x % 32 * 8;  // the image's padding, a multiple of 8 bytes
    if (last && at < image_bytes) *reinterpret_cast<uint2*>(image + at) = {0, 0};
  }
};

/// nchw fp32. Staged as in y: [output channel][row of the task][column].
template <int kColumns, int kRows>
struct PlainOutput {
  static __host__ __device__ int bytes(const DeepLayer& layer) {
    return (kColumns * 8 < layer.k ? kColumns * 8 : layer.k) * layer.result_rows() * layer.q * 4;
  }

  static __device__ void store(const float (&value)[kRows][kColumns][4], const DeepLayer& layer, const Task& task,
                               int unit, const Position<kRows>& at, int first_map, char* results) {
    if (layer.k - first_map >= kColumns * 8 && is_whole(task, at)) {
      store_checked<false>(value, layer, task, unit, first_map, results);
    } else {
      store_checked<true>(value, layer, task, unit, first_map, results);
    }
  }

  template <bool kChecked>
  static __device__ void store_checked(const float (&value)[kRows][kColumns][4], const DeepLayer& layer,
                                       const Task& task, int unit, int first_map, char* results) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, map_floats = task.rows * layer.q;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Position<kRows> at(layer, task, unit * 16 + half * 8 + g);
      const int rows = at.exists ? task.rows - at.row : 0;  // rows from this position on
      float* first = reinterpret_cast<float*>(results) + 2 * t * map_floats + at.row * layer.q + at.column;
#pragma unroll
      for (int column = 0; column < kColumns; ++column, first += 8 * map_floats) {
        const int maps = layer.k - first_map - column * 8;  // output channels left
        float *to = first, *to_next = first + map_floats;
#pragma unroll
        for (int j = 0; j < kRows; ++j, to += layer.q, to_next += layer.q) {
          if (!kChecked || (j < rows && 2 * t < maps)) *to = value[j][column][half * 2];
          if (!kChecked || (j < rows && 2 * t + 1 < maps)) *to_next = value[j][column][half * 2 + 1];
        }
      }
    }
  }

  /// One warp copies the staged results to y.
  static __device__ void drain(const DeepLayer& layer, const Task& task, int first_map, void* y, char* results) {
    const int area = layer.p * layer.q, floats = task.rows * layer.q, maps = min(kColumns * 8, layer.k - first_map);
    char* to = reinterpret_cast<char*>(static_cast<float*>(y) +
                                       (static_cast<int64_t>(task.image) * layer.k + first_map) * area +
                                       task.first_row * layer.q);
    if (layer.bands == 1) return copy_span({to, results, maps * area * 4});
    for (int map = 0; map < maps; ++map) copy_span({to + map * area * 4, results + map * floats * 4, floats * 4});
  }
};

/// Computes a unit's outputs directly, in fp32, for operands outside fp16 range. Not inlined, because it would take
/// registers from the code that multiplies.
template <int kRows>
#ifdef __CUDACC__
__noinline__
#endif
    __device__ void
    store_by_definition(const DeepLayer& layer, const Task& task, int unit, int filter_rows, const float* x,
                        const float* w, const Finish& finish, int maps, float* y) {
  const int area = layer.p * layer.q;
  const float* image = x + static_cast<int64_t>(task.image) * layer.c * layer.h * layer.w;
  float* to = y + static_cast<int64_t>(task.image) * layer.k * area;
  for (int i = threadIdx.x % 32; i < 16 * kRows * maps; i += 32) {
    const Position<kRows> at(layer, task, unit * 16 + i % 16);
    const int j = i / 16 % kRows, of_block = i / 16 / kRows, map = finish.first_map + of_block;
    if (!at.exists || at.row + j >= task.rows || map >= layer.k) continue;
    const int p = task.first_row + at.row + j;
    const float* filter = w + map * layer.c * filter_rows * layer.s;
    float sum = 0;
    for (int c = 0; c < layer.c; ++c) {
      float of_channel = 0;  // kept separate, so that a large sum does not round each small product
      for (int r = 0; r < filter_rows; ++r) {
        const int h = p - layer.pad_top + r;
        for (int s = 0; s < layer.s; ++s, ++filter) {
          const int across = at.column - layer.pad_left + s;
          const bool inside = h >= 0 && h < layer.h && across >= 0 && across < layer.w;
          if (inside) of_channel += *filter * image[(c * layer.h + h) * layer.w + across];
        }
      }
      sum += of_channel;
    }
    to[map * area + p * layer.q + at.column] = at_least(sum + finish.bias[of_block], finish.least);
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
