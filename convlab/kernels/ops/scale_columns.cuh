#pragma once

#include "convlab/kernels/ops/scale_sums.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// The steps of a block of cuda.scale: stage planes in shared memory, compute columns of outputs, copy them to global
// memory. A plane (`map`) is a channel of an image.

constexpr int kWarp = 32;
constexpr int kMaps = 4;     // per block, and per thread
constexpr int kColumns = 4;  // per thread
constexpr int kMaskRows = 32 / kColumns;
constexpr int kLine = 16;  // bytes per copy

/// Taps per row and per column of the output. `columns` is padded to whole groups of columns, with taps of 0.
struct ScaleTables {
  const ExactTap *exact_rows, *exact_columns;
  const Tap *rows, *columns;
};

struct ScaleShape {
  int64_t maps;
  int h, w, map_pixels, side;
  int band_rows;     // output rows per block
  int part_rows;     // rows of a band per thread
  int groups;        // of kColumns columns
  int items;         // work items of a block: groups times parts of a band
  int stride;        // bytes from one plane's band to the next in shared memory
  int most_listed;   // capacity of the list of uncertain pixels
  int list, output;  // byte offsets in shared memory, after the pixels
};

/// Stages the planes in shared memory, with the pixels of all planes interleaved, followed by a zero word for inputs of
/// weight 0. Finds the minimum of each plane. If there are fewer planes, repeats the last one.
inline __device__ void stage(const uint8_t* x, int maps, uint32_t* pixels, int (&least)[kMaps],
                             const ScaleShape& shape) {
  const uint8_t* from[kMaps];
  int smallest[kMaps];
#pragma unroll
  for (int m = 0; m < kMaps; ++m) {
    from[m] = x + min(m, maps - 1) * shape.map_pixels;
    smallest[m] = 255;
  }
  for (int i = threadIdx.x; i < shape.map_pixels; i += blockDim.x) {
    uint32_t all = 0;
#pragma unroll
    for (int m = 0; m < kMaps; ++m) {
      const int pixel = from[m][i];
      smallest[m] = min(smallest[m], pixel);
      all |= pixel << 8 * m;
    }
    pixels[i] = all;
  }
  if (threadIdx.x == 0) pixels[shape.map_pixels] = 0;
#pragma unroll
  for (int m = 0; m < kMaps; ++m) {
    smallest[m] = __reduce_min_sync(~0u, smallest[m]);
    if (threadIdx.x % kWarp == 0) atomicMin(&least[m], smallest[m]);
  }
}

/// Computes rows [row, end) of a group of columns of all planes, in fp32. Calls store(map, values) after each row, and
/// on_doubts(last_row, bits) after every kMaskRows rows: bit 8 c + 7 - i of bits[m] marks plane m, column c, i rows
/// above last_row as uncertain.
template <class Store, class OnDoubts>
__device__ void scale_columns(const uint8_t* pixels, const Tap* rows, const Tap* columns, int row, int end,
                              const ScaleShape& shape, Store store, OnDoubts on_doubts) {
  Tap column[kColumns];
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    column[c] = columns[c];
    column[c].first *= kMaps;
  }
  // Horizontal blends in two adjacent input rows; `lower_row` is the lower one.
  float upper[kMaps][kColumns] = {}, lower[kMaps][kColumns] = {};
  int lower_row = -1;
  while (row < end) {
    uint32_t doubts[kMaps] = {};
#pragma unroll 1
    for (int rest = min(kMaskRows, end - row); rest > 0; --rest, ++row) {
      const Tap tap = rows[row];
#pragma unroll 1
      for (int h = max(lower_row + 1, tap.first); h <= tap.first + 1; ++h) {
        const uint8_t* in_row = pixels + min(h, shape.h - 1) * shape.w * kMaps;
#pragma unroll
        for (int c = 0; c < kColumns; ++c) {
          const uint8_t* left = in_row + column[c].first;
#pragma unroll
          for (int m = 0; m < kMaps; ++m) {
            upper[m][c] = lower[m][c];
            lower[m][c] = blend(left[m], left[kMaps + m], column[c]);
          }
        }
        lower_row = h;
      }
#pragma unroll
      for (int m = 0; m < kMaps; ++m) {
        uint32_t sums[kColumns];
#pragma unroll
        for (int c = 0; c < kColumns; ++c) sums[c] = sum_bits(upper[m][c], lower[m][c], tap);
        const WholeParts parts = whole_parts(sums);
        doubts[m] = doubts[m] >> 1 | parts.doubts;
        store(m, parts.values);
      }
    }
    on_doubts(row - 1, doubts);
  }
}

/// Copies bytes with all threads of the block. The two addresses must be equal modulo kLine.
inline __device__ void copy_together(uint8_t* to, const uint8_t* from, int bytes) {
  const int head = min(bytes, static_cast<int>(-reinterpret_cast<uintptr_t>(to) % kLine));
  const int lines = (bytes - head) / kLine, ends = bytes - lines * kLine;
  for (int i = threadIdx.x; i < lines; i += blockDim.x) {
    reinterpret_cast<uint4*>(to + head)[i] = reinterpret_cast<const uint4*>(from + head)[i];
  }
  for (int i = threadIdx.x; i < ends; i += blockDim.x) {
    const int at = i < head ? i : i + lines * kLine;
    to[at] = from[at];
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
