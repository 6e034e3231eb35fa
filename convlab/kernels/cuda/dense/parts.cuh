#pragma once

// Shared by the dense layers on tensor cores, besides their partition (cut.h): weight packing, the partial sums that
// blocks store, and the kernel that adds them.

#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/cuda/dense/cut.h"
#include "convlab/kernels/ops/activation.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// fp16 values of a column of B in a slice: 64 K elements, or the large and then the small parts of 32 K elements.
constexpr int kSliceHalves = 64;
constexpr int64_t kSliceElements = int64_t{kDenseColumns} * kSliceHalves;

/// The order of the K elements in the rows of A: in sequence or, if `plane` is not 0, in nchw8c float16.
struct TermOrder {
  int64_t terms = 0;
  int64_t channels = 0, plane = 0;

  /// Returns the K element at offset `at` of a row, or -1 if there is none.
  __device__ int64_t term_at(int64_t at) const {
    if (plane == 0) return at < terms ? at : -1;
    constexpr int kBlock = 8;
    const int64_t whole = channels / kBlock * kBlock * plane;
    const bool in_whole = at < whole;
    const int width = in_whole || channels % kBlock > kBlock / 2 ? kBlock : kBlock / 2;
    const int64_t block = in_whole ? at / (kBlock * plane) : channels / kBlock;
    const int64_t rest = at - block * kBlock * plane;
    const int64_t channel = block * kBlock + rest % width, pixel = rest / width;
    return channel < channels && pixel < plane ? channel * plane + pixel : -1;
  }
};

/// The original B, K elements by columns.
struct DenseWeights {
  const float* data;
  int64_t term_stride, column_stride;
  int64_t columns;

  __device__ float at(int64_t term, int64_t column) const { return data[term * term_stride + column * column_stride]; }
};

constexpr uint32_t kExponentStep = 1 << 23;  // one exponent, in a float's bits

/// Returns whether fp16 parts, scaled by a power of two, can represent numbers of these magnitudes. `largest`: bits of
/// the largest; `least`: bits of the smallest that is not 0, minus 1. They can if none is less than 2^-36 of the
/// largest, which must be in fp32 range with and without a scale. NaN and infinity cannot be represented.
inline __device__ bool halves_hold(uint32_t largest, uint32_t least) {
  return largest == 0 || (largest >= 32 * kExponentStep && largest < 227 * kExponentStep &&
                          least + 1 >= largest - min(largest, 36 * kExponentStep));
}

/// A block per column: stores the inverse of the power of two that scales the column's largest weight into [2^14,
/// 2^15). kStrict: NaN if fp16 parts cannot represent the column.
template <bool kStrict>
__global__ void __launch_bounds__(256) measure_columns(DenseWeights weights, int64_t terms, float* undo) {
  __shared__ uint32_t block_largest, block_least;
  if (threadIdx.x == 0) {
    block_largest = 0;
    block_least = 0xffffffff;
  }
  __syncthreads();
  uint32_t largest = 0, least = 0xffffffff;
  for (int64_t term = threadIdx.x; term < terms; term += blockDim.x) {
    const uint32_t bits = __float_as_uint(weights.at(term, blockIdx.x)) & 0x7fffffff;
    if (kStrict || bits < 255 * kExponentStep) largest = max(largest, bits);
    least = min(least, bits - 1);
  }
  atomicMax(&block_largest, largest);
  atomicMin(&block_least, least);
  __syncthreads();
  if (threadIdx.x != 0) return;
  float result = 1;
  if (kStrict && !halves_hold(block_largest, block_least)) {
    result = __uint_as_float(0x7fc00000);
  } else if (block_largest != 0) {
    const int exponent = static_cast<int>(block_largest / kExponentStep) - 14;
    result = __uint_as_float(static_cast<uint32_t>(max(exponent, 1)) * kExponentStep);
  }
  undo[blockIdx.x] = result;
}

/// Packs weights as [tile of 160 columns][slice][column][64 fp16 values], with chunks of 8 values swizzled as in
/// dense_hopper.cuh. kSplit: K elements in the order of split_rows().
template <bool kSplit>
__global__ void __launch_bounds__(256) pack_weights(DenseWeights weights, TermOrder order, const float* undo,
                                                    int64_t slices, int64_t halves, __half* packed) {
  for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < halves; i += gridDim.x * int64_t{256}) {
    const int in_column = i % kSliceHalves, tile_column = i / kSliceHalves % kDenseColumns;
    const int64_t slice = i / kSliceElements % slices, tile = i / kSliceElements / slices;
    const int64_t column = tile * kDenseColumns + tile_column;
    const int place = ((in_column / 8) ^ (tile_column % 8)) * 8 + in_column % 8;
    int64_t term = 0;
    if constexpr (kSplit) {
      const int of_step = place % 16;
      term = slice * 32 + place % 32 / 16 * 16 + of_step % 8 / 2 * 4 + of_step / 8 * 2 + of_step % 2;
      if (term >= order.terms) term = -1;
    } else {
      term = order.term_at(slice * kSliceHalves + place);
    }
    float value = 0;
    if (column < weights.columns && term >= 0) {
      value = weights.at(term, column) * (1 / undo[column]);
      if (kSplit && place >= 32) value -= __half2float(__float2half_rn(value));
    }
    packed[i] = __float2half_rn(value);
  }
}

/// What a block sums for one tile: the range of K slices [first, last).
struct DenseStretch {
  int tile;
  int first, last;
};

/// Returns the range that begins at this step, for a team that ends at `end`.
inline __device__ DenseStretch stretch_from(const DenseCut& cut, int64_t step, int64_t end) {
  const int tile = static_cast<int>(step / cut.slices), first = static_cast<int>(step % cut.slices);
  return {tile, first, static_cast<int>(min(static_cast<int64_t>(cut.slices), first + end - step))};
}

/// Stores a thread's sums, which are D fragments of mma_fp16, 8 columns at a time.
__device__ __forceinline__ void leave_part(const float (&sum)[kDenseColumns / 2], const DenseCut& cut, int part,
                                           int group, int thread, float* parts) {
  auto* to = reinterpret_cast<float4*>(parts + part * cut.part_elements() + group * (kDenseGroupRows * kDenseColumns));
#pragma unroll
  for (int j = 0; j < kDenseColumns / 8; ++j) {
    to[j * 128 + thread] = make_float4(sum[4 * j], sum[4 * j + 1], sum[4 * j + 2], sum[4 * j + 3]);
  }
}

/// Returns which of eight rows lanes 4 i to 4 i + 3 have in split_rows(). Rows 4 apart follow each other, so that eight
/// lanes read from different banks at once.
inline __device__ int mixed_row(int i) { return i / 2 + i % 2 * 4; }

/// The epilogue of a sum.
struct DenseFinish {
  const float* undo;  ///< inverse scales, by column
  float alpha, beta;
  const float* addend;  ///< may be null
  int64_t addend_row_stride, addend_column_stride;
  Activation activation;
};

/// Computes one sum directly, in fp32, by a warp.
inline __device__ float sum_plainly(const float* row, const DenseWeights& weights, int64_t column, int64_t terms) {
  float sum = 0;
  for (int64_t term = threadIdx.x % 32; term < terms; term += 32) sum += row[term] * weights.at(term, column);
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffff, sum, lanes);
  return sum;
}

/// Applies the epilogue to a thread's sums of four elements of a tile and writes them. kSplit: see add_parts().
template <bool kSplit>
__device__ __forceinline__ void finish_sums(const float (&sum)[4], int tile, int group, int j, const DenseCut& cut,
                                            const DenseFinish& finish, const float* a, const DenseWeights& weights,
                                            int64_t terms, float* y) {
  const int thread = threadIdx.x % 128, lane_row = thread % 32 / 4;
  const int in_tile = group * kDenseGroupRows + thread / 32 * 16 + (kSplit ? mixed_row(lane_row) : lane_row);
  const int64_t column = cut.first_column(tile) + j * 8 + thread % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int64_t row = cut.first_row(tile) + in_tile + half * 8;
    const bool row_inside = in_tile + half * 8 < cut.tile_rows && row < cut.rows;
    float result[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const bool inside = row_inside && column + i < cut.columns;
      float value = inside ? sum[half * 2 + i] * finish.undo[column + i] * (kSplit ? 0x1p15f : 1.0f) : 0;
      if constexpr (kSplit) {
        unsigned lost = __ballot_sync(0xffffffff, !(fabsf(value) <= 0x1.fffffep127f));
        for (; lost != 0; lost &= lost - 1) {
          const int lane = __ffs(static_cast<int>(lost)) - 1;
          const int64_t lost_row = __shfl_sync(0xffffffff, static_cast<long long>(row), lane);
          const int64_t lost_column = __shfl_sync(0xffffffff, static_cast<long long>(column), lane) + i;
          const float plain = sum_plainly(a + lost_row * terms, weights, lost_column, terms);
          if (thread % 32 == lane) value = plain;
        }
      }
      value *= finish.alpha;
      if (inside && finish.addend != nullptr) {
        value +=
            finish.beta * finish.addend[row * finish.addend_row_stride + (column + i) * finish.addend_column_stride];
      }
      result[i] = activated(finish.activation, value);
    }
    if (!row_inside || column >= cut.columns) continue;
    float* to = y + row * cut.columns + column;
    if (cut.columns % 2 == 0) {
      *reinterpret_cast<float2*>(to) = make_float2(result[0], result[1]);
    } else {
      to[0] = result[0];
      if (column + 1 < cut.columns) to[1] = result[1];
    }
  }
}

constexpr int kAddingThreads = 512;

/// Adds the parts of each tile in a fixed order and applies the epilogue. kSplit: rows are permuted by mixed_row(), and
/// sums are scaled by 2^-15. Sums that are not finite are computed again directly from A's rows, because fp16 parts
/// could not represent their operands. 128 threads have the elements of 64 rows and 8 columns, two columns of two rows
/// each. If there are many parts (kMany), a block has one such group of elements, and four threads share its parts;
/// grid: tiles, groups, columns / 8. Otherwise it has all 20 such groups of 64 rows, and a thread five of them at once;
/// grid: tiles, groups.
template <bool kSplit, bool kMany>
__global__ void __launch_bounds__(kAddingThreads)
    add_parts(const float* parts, DenseCut cut, DenseFinish finish, const float* a, DenseWeights weights, int64_t terms,
              float* y) {
  const int tile = blockIdx.x, group = blockIdx.y, thread = threadIdx.x % 128, quarter = threadIdx.x / 128;
  const int first = cut.team_of(int64_t{tile} * cut.slices);
  const int count = cut.team_of((tile + int64_t{1}) * cut.slices - 1) - first + 1;
  const auto* from = reinterpret_cast<const float4*>(parts + cut.part(first, tile) * cut.part_elements() +
                                                     group * (kDenseGroupRows * kDenseColumns)) +
                     thread;
  const int64_t part_stride = cut.part_elements() / 4;
  const auto add = [](float(&sum)[4], const float4& four) {
    sum[0] += four.x;
    sum[1] += four.y;
    sum[2] += four.z;
    sum[3] += four.w;
  };
  if constexpr (kMany) {
    __shared__ float4 others[3][128];
    const int j = blockIdx.z;
    float sum[4] = {};
#pragma unroll 4
    for (int i = quarter; i < count; i += 4) add(sum, from[i * part_stride + j * 128]);
    if (quarter > 0) others[quarter - 1][thread] = make_float4(sum[0], sum[1], sum[2], sum[3]);
    __syncthreads();
    if (quarter > 0) return;
    for (int i = 0; i < 3; ++i) add(sum, others[i][thread]);
    finish_sums<kSplit>(sum, tile, group, j, cut, finish, a, weights, terms, y);
  } else {
    constexpr int kEach = kDenseColumns / 8 / 4;
    float sum[kEach][4] = {};
#pragma unroll 2
    for (int i = 0; i < count; ++i) {
#pragma unroll
      for (int k = 0; k < kEach; ++k) add(sum[k], from[i * part_stride + (quarter * kEach + k) * 128]);
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      finish_sums<kSplit>(sum[k], tile, group, quarter * kEach + k, cut, finish, a, weights, terms, y);
    }
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
