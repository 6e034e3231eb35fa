#pragma once

#include "convlab/kernels/cuda/first_layer/cells.cuh"
#include "convlab/kernels/cuda/first_layer/filters.cuh"
#include "convlab/kernels/cuda/first_layer/pixels.cuh"
#include "convlab/kernels/cuda/first_layer/plainly.cuh"
#include "convlab/kernels/cuda/first_layer/results.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// A convolution with one input channel and small filters on tensor cores, to fp32. Each output needs few products, so
// the kernel must move little data and rarely wait.
//
// Products. A matrix multiply-add multiplies 16 rows of 16 elements (K = 16) by 8 columns. A row is a cell: two outputs
// (p, q) and (p, q + 1), or the 2 x 2 sums of one pooled output, in two multiply-adds, one for the upper and one for
// the lower sums. The two adjacent outputs are mapped to columns: a column is one output channel for the left or the
// right output, with its filter shifted by one. So 12 output channels are 24 columns, and no channel is padded. The K
// dimension is the pixels that both outputs read: r rows of s + 1 pixels, in words of two fp16 values, which are
// aligned because cells start at even pixels. For 5x5 these are 15 words, 30 elements of 32. Elements without a filter
// value are multiplied by 0, so non-finite values must not get here.
//
//     word 0  1  2   of the row         a 5x5 filter of a channel: left output:  w0 w1 | w2 w3 | w4 0
//     pixels ab cd ef                                             right output:  0 w0 | w1 w2 | w3 w4
//
// Lane l, with group = l / 4 and thread = l % 4, holds words thread, thread + 4, ... of cell `group` of two rows of
// cells, one below the other. So all its addresses are 2 * steps registers plus one offset and constants. It gets the
// left and the right sum of an output channel next to each other, as they are stored, and needs no other lane for a 2x2
// maximum.
//
// Roles. A block has one band of an image in shared memory at a time; bands are assigned round-robin.
//   1. All threads stage the band's pixels as fp16 (large parts and, if split, small parts) from registers, where
//      they were loaded while the previous band was computed, and find the range of the values. If fp16 does not cover
//      the range, the band is computed by direct fp32 summation (plainly.cuh).
//   2. Each pass computes some of the output channels. Each warp multiplies groups of 16 cells and stages their
//      results, pooled and activated, in stretches, which are contiguous in the output. Then each warp starts to store
//      some of the stretches, and continues with the next pass or band while bulk copies (TMA) read them.
// Shared memory holds filters as operands, and bias; pixels; results, once or twice.
//
// Measured on an H200: bulk stores of whole stretches take 0.55 ms for 2.09 GB in stretches of 5.8 kB, 0.62 ms in
// stretches of 1.6 kB, and 0.48 ms as one range. They take a quarter longer if the offset from a 128-byte line differs
// between a stretch in global memory and its results in shared memory (results.cuh). The L2 evict-first policy for
// results makes the kernel with one fp16 product 3 % faster with small filters, and the others slower.

template <class Layer, int kSteps, int kColumns>
__global__ void __launch_bounds__(Layer::kMostThreads, 1)
    convolve_first_layer(const typename Layer::Pixel* __restrict__ x, const float* __restrict__ w,
                         const float* __restrict__ bias, float* __restrict__ y, const FirstLayerShape shape) {
  using Pixel = typename Layer::Pixel;
  constexpr int kSquare = Layer::kSquare, kRowWords = Layer::kRowWords, kUnits = Layer::kUnits;
  __shared__ uint32_t ranges[Layer::kMostThreads / 32];
  uint32_t* const staged_filters = dynamic_shared<uint32_t>();
  uint32_t* const pixels = dynamic_shared<uint32_t>() + shape.pixels_offset / 4;
  unsigned char* const results = dynamic_shared<unsigned char>() + shape.results_offset;
  const int threads = blockDim.x, warps = threads / 32;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, thread = lane % 4;

  const bool plain_filters = stage_filters<Layer, kSteps, kColumns>(w, bias, staged_filters, shape);
  SharedWords words[kSteps * 2];  // this lane's words of the band's first cell
#pragma unroll
  for (int i = 0; i < kSteps * 2; ++i) {
    // Past the end, repeat the last word: its filter value is then 0.
    const int word = min(i * 4 + thread, shape.conv.r * shape.filter_words - 1);
    const int row = word / shape.filter_words, across = word % shape.filter_words;
    words[i] = shared_words(pixels + row * kRowWords + across);
  }

  // Bands are assigned round-robin, so that all blocks together write one part of the output at a time.
  const int plane = shape.rows * shape.columns;
  int image = blockIdx.x / shape.bands, band_of_image = blockIdx.x % shape.bands;
  const int image_step = gridDim.x / shape.bands, band_step = gridDim.x % shape.bands;
  const auto band_at = [&](int of_image, int index) -> Band<Pixel> {
    const int first_row = index * shape.band_rows, rows = min(shape.band_rows, shape.rows - first_row);
    return {x + int64_t{of_image} * (shape.conv.h * shape.conv.w), first_row * kSquare - shape.conv.pad_top,
            (rows + rows % 2) * kSquare + shape.conv.r - 1};
  };
  typename Band<Pixel>::Unit units[kUnits];
  if (shape.contiguous && image < shape.conv.n) band_at(image, band_of_image).load_all(shape, units);

  for (int buffer = 0; image < shape.conv.n;) {
    const int first_row = band_of_image * shape.band_rows, rows = min(shape.band_rows, shape.rows - first_row);
    const Band<Pixel> band = band_at(image, band_of_image);
    const int count = band.height * shape.image_words;
    uint32_t largest = 0;
    if (shape.contiguous) {
#pragma unroll
      for (int i = 0; i < kUnits; ++i) {
        const int unit = threadIdx.x + i * threads;
        if (unit * Band<Pixel>::kWordsOfUnit < count) {
          stage<kRowWords, Layer::kSplitPixels>(units[i], unit, pixels, shape, largest);
        }
      }
    }
#pragma unroll 1
    for (int unit = threadIdx.x + (shape.contiguous ? kUnits * threads : 0); unit * Band<Pixel>::kWordsOfUnit < count;
         unit += threads) {
      stage<kRowWords, Layer::kSplitPixels>(band.load(shape, unit), unit, pixels, shape, largest);
    }
    if (Layer::kRangedPixels) {
      const uint32_t of_warp = __reduce_or_sync(~0u, range_of(largest));
      if (lane == 0) ranges[warp] = of_warp;
    }

    const int64_t image_now = image;
    image += image_step;
    band_of_image += band_step;
    if (band_of_image >= shape.bands) {
      band_of_image -= shape.bands;
      ++image;
    }
    float* const to = y + image_now * shape.conv.k * plane;
    int cells = (rows + 1) / 2 * shape.cells, next_pair = (2 * kSquare * kRowWords - shape.cells) * 4;
    opaque(cells);  // in every other row
    opaque(next_pair);
#pragma unroll 1
    for (int pass = 0; pass < shape.passes; ++pass) {
      if (shape.buffers == 2) {
        wait_for_stores<1>();
      } else {
        wait_for_stores<0>();
      }
      __syncthreads();  // pixels are staged, and a buffer is free
      if (pass == 0) {
        if (shape.contiguous && image < shape.conv.n) band_at(image, band_of_image).load_all(shape, units);
        uint32_t range = Layer::kRangedPixels ? 0 : kUsual;
        for (int i = 0; Layer::kRangedPixels && i < warps; ++i) range |= ranges[i];
        if (plain_filters || out_of_range(range)) {
          write_plainly<kSquare>(band.image, w, bias, to, shape, first_row, rows);
          __syncthreads();
          break;
        }
      }

      const int first_map = pass * kColumns * 4, maps = min(kColumns * 4, shape.conv.k - first_map);
      unsigned char* const staging = results + buffer * shape.results_bytes;
      if (++buffer == shape.buffers) buffer = 0;
      // Byte offset of a stretch in the image's output, and its address in the staging buffer.
      const auto begin_of = [&](int stretch) {
        return ((first_map + stretch) * plane + first_row * shape.columns) * 4;
      };
      const auto staged_at = [&](int stretch) {
        const int first = shape.bands == 1 ? 0 : stretch;  // with one band per image, stretches are contiguous
        return staging + stretch * shape.stretch_pitch + ((reinterpret_cast<uintptr_t>(to) + begin_of(first)) & 127);
      };
      Filters<kSteps, kColumns> filters;
      float biases[kColumns];
      load_filters<Layer>(filters, biases, staged_filters, pass, shape);
      SharedWords places[kColumns];
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        places[column] = shared_words(staged_at(map_of<kColumns>(column, thread)));
      }
      for (int first = warp * 8 + group; first - group < cells; first += warps * 8) {
        const int cell = min(first, cells - 1), pair = divide(cell, shape.cells_inverse);
        float result[kColumns][4];
        convolve_cells<Layer>(result, words, cell * 4 + pair * next_pair, filters);
        const bool exists[2] = {first < cells, first < cells && 2 * pair + 1 < rows};
        stage_results<Layer>(result, biases, places, cell + pair * shape.cells, exists, shape);
      }
      fence_for_async();
      __syncthreads();
      const bool whole = shape.bands == 1;
      store_stretches(whole ? 1 : maps, shape.evict_first, [&](int stretch) -> Stretch {
        return {reinterpret_cast<unsigned char*>(to) + begin_of(stretch), staged_at(stretch),
                (whole ? maps : 1) * rows * shape.columns * 4};
      });
    }
  }
  wait_for_stores<0>();
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
