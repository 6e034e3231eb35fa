#pragma once

#include "convlab/kernels/cuda/first_layer/bytes_pixels.cuh"
#include "convlab/kernels/cuda/first_layer/bytes_products.cuh"
#include "convlab/kernels/cuda/first_layer/bytes_results.cuh"
#include "convlab/kernels/cuda/first_layer/plainly.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// A convolution with one uint8 input channel and small filters on tensor cores, with 2x2 max pooling and activation, to
// fp16 in blocks of channels (nchw8c). Few bytes move and each output needs few products, so the number of instructions
// matters.
//
// Products. A row of a matrix operand is a cell: adjacent sums of one row, four for filters of up to 5x5, otherwise
// two. They are mapped to columns: a column is one output channel for one of the adjacent sums, with its filter
// shifted. The K dimension is the 8 pixels that these sums read, for each row of the filter, so K = 16 is two rows:
//
//     pixels           a b c d e f g h      a lane has two of them, and the two of the other row
//     filter of sum 0  0 1 2 3 4 . . .
//     filter of sum 1  . 0 1 2 3 4 . .      . is 0 and may multiply any pixel, because bytes are finite
//     filter of sum 2  . . 0 1 2 3 4 .
//     filter of sum 3  . . . 0 1 2 3 4
//
// Rows 0 to 7 of an operand are 8 horizontally adjacent cells, rows 8 to 15 the cells one row of pixels below. So a
// lane has all 2x2 sums of its outputs, and with a suitable order of columns, these outputs are adjacent in memory.
// From one row of outputs to the next, a cell loads two more rows of pixels and has the others in registers: vertically
// adjacent outputs form a strip. A byte is a valid fp16 value, in units of 2^-24; sums are multiplied by 2^24 when the
// bias is added.
//
// Roles. A block has the pixels of a band of an image in shared memory, copied unchanged, and starts to copy its next
// band before it computes. Bands are assigned round-robin. Four lanes process a strip at a time: they start the
// products of a row of outputs (bytes_products.cuh), and while tensor cores multiply, they pool, activate and store the
// row above from registers (bytes_results.cuh), 256 contiguous bytes per warp. Shared memory holds pixels, twice, and
// filters if warpgroups multiply. If fp16 cannot represent the filters, bands are computed by direct fp32 summation
// (plainly.cuh).

/// A lane's position in the strips of a band. A step moves it kThreads / 4 cells further; past the end of a row, it
/// continues in the strips below.
struct StripWalk {
  int cell;   ///< index in the row
  int from;   ///< bytes from the band's first pixel to this lane's first pixel of the cell
  int place;  ///< index of this lane's first pooled output within an output channel
  int rows;   ///< rows of outputs, from the strip's first one on

  /// Keeps the compiler from recomputing it in each iteration.
  __device__ void keep() {
    opaque(cell);
    opaque(from);
    opaque(place);
    opaque(rows);
  }
  __device__ void advance(const StripWalk& step, const StripWalk& down, int cells) {
    cell += step.cell;
    from += step.from;
    place += step.place;
    rows += step.rows;
    if (cell >= cells) {
      cell += down.cell;
      from += down.from;
      place += down.place;
      rows += down.rows;
    }
  }
};

template <class Layer>
__device__ StripWalk walk_to(int strip, int cell, const BytesLayerShape& shape) {
  return {cell, strip * (Layer::kStrip * 2 * shape.pitch) + cell * Layer::kNeighbors,
          strip * (Layer::kStrip * shape.columns) + cell * Layer::kPixels, -strip * Layer::kStrip};
}

template <class Layer>
__global__ void __launch_bounds__(Layer::kThreads, Layer::kLeastBlocks)
    convolve_bytes(const uint8_t* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
                   __half* __restrict__ y, const BytesLayerShape shape) {
  using Products = ByteProducts<Layer>;
  constexpr int kThreads = Layer::kThreads, kColumns = Layer::kColumns, kCells = kThreads / 4;
  constexpr int kTurns = Layer::kStrip * Products::kGroups;  // products (of a row and group) per strip
  const SharedAddress pixels = to_shared(dynamic_shared<unsigned char>());
  const int thread = threadIdx.x % 4, part = thread % Layer::kParts, pixel_of_cell = thread / Layer::kParts;
  const int first_map = blockIdx.x % shape.passes * (4 * Layer::kQuarters), plane = shape.rows * shape.columns;

  // Clear both buffers: some pixels beyond a band are read, too, for filter values of 0 or results that are not stored.
  for (int i = threadIdx.x * 16; i < 2 * shape.buffer_bytes; i += kThreads * 16) {
    *from_shared<uint4>(pixels + i) = uint4{};
  }
  // Bands are assigned round-robin, so that all blocks together write one part of the output at a time.
  int image = blockIdx.x / shape.passes / shape.bands, band_of_image = blockIdx.x / shape.passes % shape.bands;
  const int step = gridDim.x / shape.passes, image_step = step / shape.bands, band_step = step % shape.bands;
  const auto band_at = [&](int of_image, int index) -> ByteBand {
    const int first_row = index * shape.band_rows, rows = min(shape.band_rows, shape.rows - first_row);
    return {x + int64_t{of_image} * (shape.conv.h * shape.conv.w), first_row * 2 - shape.conv.pad_top,
            rows * 2 + shape.conv.r - 1};
  };
  __syncthreads();
  if (shape.contiguous && image < shape.conv.n) {
    band_at(image, band_of_image).template copy<kThreads>(pixels, shape);
  }

  Products products;
  bool plain_filters;
  {
    uint32_t filters[Layer::kRows][kColumns];
    plain_filters = out_of_range(range_of(load_filters<Layer>(filters, w, first_map, shape)));
    products.take(filters);
  }
  float biases[kColumns];
#pragma unroll
  for (int column = 0; column < kColumns; ++column) {
    const int map = first_map + map_of_column<Layer>(column, thread);
    biases[column] = bias != nullptr && map < shape.conv.k ? bias[map] : 0;
  }
  const int first_strip = divide(threadIdx.x / 4, shape.cells_inverse);
  StripWalk begin = walk_to<Layer>(first_strip, threadIdx.x / 4 - first_strip * shape.cells, shape);
  begin.from += 2 * thread;
  begin.place += pixel_of_cell;
  StripWalk forward = walk_to<Layer>(kCells / shape.cells, kCells % shape.cells, shape);
  StripWalk down = walk_to<Layer>(1, -shape.cells, shape);
  forward.keep();
  down.keep();
  const int whole_cells = (shape.columns - pixel_of_cell + Layer::kPixels - 1) / Layer::kPixels;  // with this pixel

  for (int buffer = 0; image < shape.conv.n; buffer ^= 1) {
    const int first_row = band_of_image * shape.band_rows, rows = min(shape.band_rows, shape.rows - first_row);
    const ByteBand band = band_at(image, band_of_image);
    const SharedAddress here = pixels + (buffer == 0 ? 0 : shape.buffer_bytes);
    if (!shape.contiguous) band.stage(here, shape);
    wait_for_copies();
    __syncthreads();  // this band's pixels have arrived, and all threads are done with the other buffer
    unsigned char* const to = reinterpret_cast<unsigned char*>(y) + image * shape.image_bytes;
    image += image_step;
    band_of_image += band_step;
    if (band_of_image >= shape.bands) {
      band_of_image -= shape.bands;
      ++image;
    }
    if (shape.contiguous && image < shape.conv.n) {
      band_at(image, band_of_image).template copy<kThreads>(pixels + (buffer == 0 ? shape.buffer_bytes : 0), shape);
    }
    if (plain_filters) {
      const int maps = min(4 * Layer::kQuarters, (shape.conv.k + 3) / 4 * 4 - first_map);
      write_plainly<2>(band.image, w, bias, reinterpret_cast<__half*>(to), shape, first_row, rows, first_map, maps);
      continue;
    }

    // Output addresses of this lane's fp16 results for the band's first pixel.
    const int pixels_before = first_row * shape.columns, maps_before = first_map + (Layer::kOfEight > 0 ? 8 : 0);
    unsigned char* eight = to + 2 * (first_map * plane + pixels_before * 8 + part * Layer::kOfEight);
    unsigned char* four = to + 2 * (maps_before * plane + pixels_before * 4 + part * Layer::kOfFour);
    opaque(eight);
    opaque(four);
    // Finishes and stores the results of a turn, for a strip that starts at `place` and has `exist` rows.
    const auto store = [&](const float(&sums)[kColumns][4], int turn, int place, int exist) {
      const int row = turn / Products::kGroups;
      const bool is_first = turn % Products::kGroups == 0, is_last = turn % Products::kGroups == Products::kGroups - 1;
      const int first = is_first ? 0 : Products::kFirstGroup, end = is_last ? kColumns : Products::kFirstGroup;
      float values[kColumns];
#pragma unroll
      for (int column = first; column < end; ++column) {
        const float(&sum)[4] = sums[column - first];
        const float largest = fmaxf(fmaxf(sum[0], sum[1]), fmaxf(sum[2], sum[3]));
        values[column] = activated_roughly<Layer::kTanh>(shape.activation, fmaf(largest, kByteUnit, biases[column]));
      }
      const int64_t at = place + row * shape.columns;
      if (is_first) store_halves<Layer::kOfEight>(eight + at * 16, values, row < exist);
      if (is_last) store_halves<Layer::kOfFour>(four + at * 8, values + Layer::kOfEight, row < exist);
    };

    const int cells = (rows + Layer::kStrip - 1) / Layer::kStrip * shape.cells;
    const SharedAddress first_pixel = here + band.offset(shape);
    StripWalk walk = begin;
    walk.rows += rows;
    uint32_t bytes[Layer::kStripRows];
    const auto load_strip = [&] {
#pragma unroll
      for (int i = 0; i < Layer::kStripRows; ++i) bytes[i] = load_bytes(first_pixel + walk.from + i * shape.pitch);
    };
    load_strip();
#pragma unroll 1
    for (int done = 0; done < cells;) {
      const int place = walk.place, exist = walk.cell < whole_cells ? walk.rows : 0;
      uint32_t operands[Products::kOperands + Layer::kStrip - 1][4];
#pragma unroll
      for (int i = 0; i < Products::kOperands - 1; ++i) set_operand(operands[i], bytes + 2 * i);
      float sums[2][kColumns][4];  // of the current and the previous turn
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn) {
        const int row = turn / Products::kGroups, next = row + Products::kOperands - 1;
        if (turn % Products::kGroups == 0) set_operand(operands[next], bytes + 2 * next);
        products.begin(sums[turn % 2], operands + row, turn % Products::kGroups);
        if (turn == kTurns - Products::kGroups) {  // all pixels are in operands: load the next strip
          done += kCells;
          walk.advance(forward, down, shape.cells);
          if (done < cells) load_strip();
        }
        if (turn > 0) {
          products.template wait<1>(sums[(turn - 1) % 2]);
          store(sums[(turn - 1) % 2], turn - 1, place, exist);
        }
      }
      products.template wait<0>(sums[(kTurns - 1) % 2]);
      store(sums[(kTurns - 1) % 2], kTurns - 1, place, exist);
    }
    const int left = first_map == 0 && first_row + rows == shape.rows ? shape.left_bytes : 0;  // by one pass only
    if (const int word = threadIdx.x * 4; word < left) {  // less than 128 bytes of padding
      *reinterpret_cast<uint32_t*>(to + (shape.image_bytes - left) + word) = 0;
    }
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
