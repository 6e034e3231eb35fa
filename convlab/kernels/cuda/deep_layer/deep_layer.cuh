#pragma once

#include "convlab/conv/epilogue.h"
#include "convlab/device/tensor_core.cuh"
#include "convlab/kernels/conv_shape.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Convolutions with several channels on fp16 tensor cores, as a pipeline inside each block: shared by
// cuda.deep_layer_fp16 and cuda.deep_layer_1xfp16. This file is the overview; input.cuh has the staging, products.cuh
// the products, output.cuh the results, weights.cuh the filters, block.cuh the shared memory, deep_pipeline.cuh the
// roles.
//
//   y[output channel][pixel] = sum over k of  A[pixel][k] * B[k][output channel]          (mma.sync m16n8k16)
//
// K is taps by channels.
//
// Roles. A block is persistent and loops over tasks: all output rows of an image, or a band of them. A few of its
// warps, the producers, stage the input rows of the next tasks in buffers; most, the consumers, multiply and store
// results in shared memory; one, the writer, copies a task's results to y. The units of a task are assigned to
// consumers round-robin, across tasks, so that none waits for another.
//
//   x -> [raw image] -> producers -> 2 to 4 buffers -> consumers -> 1 or 2 buffers of results -> writer -> y
//
// If pixels must be converted and there is room, they arrive by bulk copy as a raw image.
//
// Slots. A staged pixel is a slot of 16 bytes, 8 channels, which is a row of an 8 x 8 matrix for ldmatrix. There is a
// plane of slots for each 8 channels. If at most 4 channels are left, the last plane's slots hold those of a pixel and
// of its right neighbor, so that no K elements are wasted on channels that do not exist.
//
//   plane 0     pixel 0: c0..c7    | pixel 1: c0..c7    | ...      row by row, `pitch` slots from one row to the next;
//   last plane  0: c8..c11, 1: ..  | 1: c8..c11, 2: ..  | ...      pitch = Q modulo 8: 8 outputs read 8 bank groups
//
// K dimension. A step of 16 K elements is two halves; a half is one slot of each pixel, at one offset from the output's
// own slot, and belongs to one filter row. All filter rows have the same halves. If a row has an odd number of halves,
// the last is repeated, and if pairs of neighbors do not cover an odd number of taps, one tap is in two pairs: then its
// filter is split into equal parts, whose sum is exact. So no operand is multiplied by a zero that is not in the
// filter, and NaN and infinity propagate as they must.
//
// Rows. A unit is 16 positions by kRows rows. An output in row j needs input row i with filter row i - j. So each
// loaded row of A is multiplied by up to min(kRows, R) filter rows, and each B by kRows rows of A, all into different
// sums:
//
//   for each step: for each filter row r: load B; for each j: sum[j] += A[r + j] * B
//
// A position is the index of the first output of a group of kRows rows: position = group * Q + column.

/// Kernel parameters of a layer.
struct DeepLayer {
  int n, c, h, w, k, p, q, s, pad_top, pad_left;
  int planes;              ///< of slots
  bool neighbors;          ///< the last plane's slots hold 4 channels of two pixels
  int steps;               ///< of 16 K elements, per filter row
  int pitch, staged_rows;  ///< of a plane
  int band_rows, bands;    ///< output rows of a task; tasks of an image
  uint32_t reciprocal;     ///< of q: see divided()
  int buffers, result_buffers;
  int raw_bytes;  ///< bytes for a raw image, or 0
  float least;    ///< lower bound of outputs: 0 with ReLU, otherwise -infinity

  __host__ __device__ int plane_bytes() const { return staged_rows * pitch * 16; }
  __host__ __device__ int buffer_bytes() const { return planes * plane_bytes(); }
  __host__ __device__ int full_planes() const { return planes - (neighbors ? 1 : 0); }
  /// Returns the maximum output rows of a task.
  __host__ __device__ int result_rows() const { return band_rows < p ? band_rows : p; }
  /// Returns the halves of a filter row, not counting the repeated one.
  __host__ __device__ int halves() const { return full_planes() * s + (neighbors ? (s + 1) / 2 : 0); }
};

/// The slot that a half of a filter row reads: in plane `plane`, `tap` slots to the right of the output's own.
struct Half {
  int plane, tap;

  __host__ __device__ Half(const DeepLayer& layer, int index) {
    index = index < layer.halves() ? index : layer.halves() - 1;
    const int in_full = layer.full_planes() * layer.s;
    plane = index < in_full ? index / layer.s : layer.full_planes();
    tap = index < in_full ? index % layer.s : (index - in_full) * 2;
    // The last pair of an odd number of taps begins one earlier.
    if (index >= in_full && tap + 1 == layer.s && tap > 0) --tap;
  }
};

/// Returns position / layer.q, for positions below 2^16.
inline __device__ int divided(const DeepLayer& layer, int position) {
#ifdef __CUDACC__
  return layer.q == 1 ? position : static_cast<int>(__umulhi(position, layer.reciprocal));
#else
  return position / layer.q;
#endif
}

/// Returns two values as fp16x2, rounded to nearest even.
inline __device__ uint32_t half_pair(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return __half_as_ushort(__low2half(pair)) | uint32_t{__half_as_ushort(__high2half(pair))} << 16;
}

/// A task: output rows first_row.. of image `image`.
struct Task {
  int image, first_row, rows;

  __device__ Task(const DeepLayer& layer, int index) {
    image = layer.bands == 1 ? index : index / layer.bands;
    first_row = (index - image * layer.bands) * layer.band_rows;
    rows = min(layer.band_rows, layer.p - first_row);
  }

  template <int kRows>
  __device__ int groups() const {
    return (rows + kRows - 1) / kRows;
  }

  template <int kRows>
  __device__ int units(const DeepLayer& layer) const {
    return (groups<kRows>() * layer.q + 15) / 16;
  }
};

/// An output position of a unit: the row of the first of its kRows outputs, relative to the task's first row, and the
/// column.
template <int kRows>
struct Position {
  int row, column;
  bool exists;

  __device__ Position(const DeepLayer& layer, const Task& task, int position) {
    const int group = divided(layer, position);
    row = group * kRows;
    column = position - group * layer.q;
    exists = row < task.rows && column < layer.q;
  }
};

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
