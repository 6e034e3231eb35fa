#pragma once

#include <type_traits>

#include "convlab/device/tensor_core.cuh"
#include "convlab/kernels/cuda/first_layer/bytes_layer.h"
#include "convlab/kernels/cuda/first_layer/bytes_pixels.cuh"
#ifdef __CUDACC__
#include "convlab/device/hopper.cuh"
#include "convlab/device/hopper_wgmma.cuh"
#endif

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Products of a first layer of uint8 pixels, by a warp or, if the GPU has wgmma, by a warpgroup at a time; see the
// diagram in bytes.cuh.

/// Returns the output channel, within its pass, of a column in the results of lanes with thread % 4 == part. A lane's
/// output channels are adjacent: first those in a block of eight, then those in a block of four.
template <class Layer>
__device__ int map_of_column(int column, int part) {
  part %= Layer::kParts;
  if (column < Layer::kOfEight) return part * Layer::kOfEight + column;
  return (Layer::kOfEight > 0 ? 8 : 0) + part * Layer::kOfFour + column - Layer::kOfEight;
}

/// Loads a lane's words of the filters, in rows of 8 pixels, rounded to fp16. Returns the largest magnitude, as bits.
template <class Layer>
__device__ uint32_t load_filters(uint32_t (&filters)[Layer::kRows][Layer::kColumns], const float* w, int first_map,
                                 const BytesLayerShape& shape) {
  const int lane = threadIdx.x % 32, part = lane / 8, right = lane / 4 % 2, r = shape.conv.r, s = shape.conv.s;
  const int across = lane % 4 * 2 - (part / Layer::kParts * 2 + right);  // column of the filter, which is shifted
  uint32_t largest = 0;
#pragma unroll
  for (int column = 0; column < Layer::kColumns; ++column) {
    const int map = first_map + map_of_column<Layer>(column, part);
#pragma unroll
    for (int row = 0; row < Layer::kRows; ++row) {
      const float* from = w + (map * r + row) * s + across;
      const bool exists = map < shape.conv.k && row < r;
      const float first = exists && across >= 0 && across < s ? from[0] : 0;
      const float second = exists && across + 1 >= 0 && across + 1 < s ? from[1] : 0;
      largest = larger(larger(largest, first), second);
      filters[row][column] = to_halves(first, second);
    }
  }
  return __reduce_max_sync(~0u, largest);
}

/// Sets a lane's words of an operand for two filter rows: first row for the upper sums, first row for the lower sums
/// (one row of pixels further), then the same for the second row.
inline __device__ void set_operand(uint32_t (&operand)[4], const uint32_t* bytes) {
  operand[0] = spread<0>(bytes[0]);
  operand[1] = spread<0>(bytes[1]);
  operand[2] = spread<1>(bytes[1]);
  operand[3] = spread<1>(bytes[2]);
}

/// Products by a warp, with filters in registers. Columns are multiplied in two groups, so that the registers suffice
/// to multiply one group while the results of the other are finished.
template <class Layer>
class WarpByteProducts {
 public:
  static constexpr int kSteps = Layer::kRows / 2;  // multiplications with K = 16; an odd last row has one with K = 8
  static constexpr int kOperands = kSteps + Layer::kRows % 2;
  static constexpr int kFirstGroup = Layer::kOfEight > 0 ? Layer::kOfEight : Layer::kColumns;
  static constexpr int kGroups = kFirstGroup < Layer::kColumns ? 2 : 1;

  __device__ void take(const uint32_t (&filters)[Layer::kRows][Layer::kColumns]) {
#pragma unroll
    for (int row = 0; row < Layer::kRows; ++row) {
#pragma unroll
      for (int column = 0; column < Layer::kColumns; ++column) filters_[row][column] = filters[row][column];
    }
  }

  __device__ void begin(float (&sums)[Layer::kColumns][4], const uint32_t (*operands)[4], int group) const {
    const int first = group == 0 ? 0 : kFirstGroup, end = group == 0 ? kFirstGroup : Layer::kColumns;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int column = first; column < end; ++column) {
        float(&sum)[4] = sums[column - first];
        if (step == 0) sum[0] = sum[1] = sum[2] = sum[3] = 0;
        const uint32_t filter[2] = {filters_[2 * step][column], filters_[2 * step + 1][column]};
        mma_fp16(sum, operands[step], filter, sum);
      }
    }
    if constexpr (Layer::kRows % 2 == 1) {
      const uint32_t last[2] = {operands[kSteps][0], operands[kSteps][1]};
#pragma unroll
      for (int column = first; column < end; ++column) {
        mma_fp16(sums[column - first], last, filters_[Layer::kRows - 1][column], sums[column - first]);
      }
    }
  }

  template <int kLeft>
  __device__ void wait(float (&)[Layer::kColumns][4]) const {}

 private:
  uint32_t filters_[Layer::kRows][Layer::kColumns];
};

#ifdef __CUDACC__

/// Asynchronous products by a warpgroup; filters are in shared memory.
template <class Layer>
class WarpgroupByteProducts {
 public:
  static constexpr int kSteps = (Layer::kRows + 1) / 2;             // multiplications with K = 16
  static constexpr int kOperands = kSteps;                          // per row of outputs
  static constexpr int kGroups = 1, kFirstGroup = Layer::kColumns;  // groups of columns, started one after the other

  /// Stages the filters in shared memory. All threads must call it.
  __device__ void take(const uint32_t (&filters)[Layer::kRows][Layer::kColumns]) {
    __shared__ __align__(128) uint32_t staged[2 * kSteps * kWords];
    if (threadIdx.x < 32) {
#pragma unroll
      for (int row = 0; row < 2 * kSteps; ++row) {
#pragma unroll
        for (int column = 0; column < Layer::kColumns; ++column) {
          staged[row * kWords + column * 32 + threadIdx.x] =
              row < Layer::kRows ? filters[row % Layer::kRows][column] : 0;
        }
      }
    }
    fence_for_async();
    __syncthreads();
    filters_ = operand_descriptor(to_shared(staged), kWords * 4, 128);
  }

  __device__ void begin(float (&sums)[Layer::kColumns][4], const uint32_t (*operands)[4], int) const {
    fence_multiplications();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const uint64_t filter = filters_ + step * (2 * kWords * 4 / 16);
      WarpgroupMultiplyRows<Layer::kColumns * 8>::run(sums, operands[step], filter, step > 0);
    }
    commit_multiplications();
  }

  /// Waits for all but the last kLeft products; call it before using their results.
  template <int kLeft>
  __device__ void wait(float (&sums)[Layer::kColumns][4]) const {
    await_multiplications<kLeft>();
#pragma unroll
    for (float(&column)[4] : sums) hold(column);
  }

 private:
  static constexpr int kWords = Layer::kColumns * 32;  // words per filter row
  uint64_t filters_;
};

#endif

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/// 48 columns keep a warpgroup's tensor cores busy; with fewer, rereading operands limits the speed.
template <class Layer>
using ByteProducts = std::conditional_t<Layer::kColumns == 6, WarpgroupByteProducts<Layer>, WarpByteProducts<Layer>>;
#else
template <class Layer>
using ByteProducts = WarpByteProducts<Layer>;
#endif

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
