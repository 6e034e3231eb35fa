#pragma once

#include "convlab/kernels/first_layer/bytes_pixels.cuh"
#include "convlab/kernels/first_layer/bytes_products.cuh"
#include "convlab/kernels/first_layer/bytes_results.cuh"
#include "convlab/kernels/first_layer/plainly.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// A convolution of one channel of bytes with small filters on tensor cores, pooled by maxima of 2x2 and activated, to
// halves in blocks of channels. Few bytes move, and each output takes few products, so the number of instructions
// counts.
//
// Products. A row of a matrix operand is a cell: neighbouring sums of one row of sums, four of them for filters of up
// to 5x5, else two. They are folded into columns: a column is one map for one of the neighbours, with its filter
// shifted. The terms are the 8 pixels that the neighbours read, of each row of the filter, so that 16 terms are two
// rows:
//
//     pixels           a b c d e f g h      a lane has two of them, and the two of the other row
//     filter of sum 0  0 1 2 3 4 . . .
//     filter of sum 1  . 0 1 2 3 4 . .      . is 0, and may meet any pixel, since bytes are finite
//     filter of sum 2  . . 0 1 2 3 4 .
//     filter of sum 3  . . . 0 1 2 3 4
//
// Rows 0 to 7 of an operand are 8 cells beside each other, rows 8 to 15 the cells one row of pixels below. So a lane
// has all 2x2 sums of its outputs; and with columns well dealt out, these are neighbours in memory. From one row of
// outputs to the next, a cell takes two more rows of pixels and has the others in registers: outputs below each other
// are a strip. A byte is a half as it is, 2^-24 a unit; sums are multiplied by 2^24 when the bias is added.
//
// Roles. A block has the pixels of a band of an image in shared memory, as they lie in memory, and begins to copy its
// next band before it computes; bands are dealt out in turn. Four lanes take a strip at a time: they begin the products
// of a row of outputs (bytes_products.cuh), and while tensor cores multiply, they pool, activate and store the row
// above from registers (bytes_results.cuh), a warp 256 bytes in a row. Shared memory holds pixels, twice, and filters
// where warpgroups multiply. Where halves cannot represent the filters, bands are computed by definition (plainly.cuh).

/// A lane's way through the strips of a band: from its cell to the one kThreads / 4 cells further on; past the end of a
/// row, it goes on in the strips below.
struct StripWalk {
  int cell;   ///< of the row
  int from;   ///< bytes from the band's first pixel to this lane's first one of the cell
  int place;  ///< of this lane's first pooled output among those of a map
  int rows;   ///< of outputs, from the strip's first on

  /// Keeps the compiler from computing it anew in each turn.
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
  return {cell, strip * (Layer::kStrip * 2 * shape.pitch) + cell * Layer::kNeighbours,
          strip * (Layer::kStrip * shape.columns) + cell * Layer::kPixels, -strip * Layer::kStrip};
}

template <class Layer>
__global__ void __launch_bounds__(Layer::kThreads, Layer::kLeastBlocks)
    convolve_bytes(const uint8_t* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
                   __half* __restrict__ y, const BytesLayerShape shape) {
  using Products = ByteProducts<Layer>;
  constexpr int kThreads = Layer::kThreads, kColumns = Layer::kColumns, kCells = kThreads / 4;
  constexpr int kTurns = Layer::kStrip * Products::kGroups;  // of products, in a strip
  const SharedAddress pixels = to_shared(dynamic_shared<unsigned char>());
  const int thread = threadIdx.x % 4, part = thread % Layer::kParts, pixel_of_cell = thread / Layer::kParts;
  const int first_map = blockIdx.x % shape.passes * (4 * Layer::kQuarters), plane = shape.rows * shape.columns;

  // Some pixels beyond a band's are read, too, for filters that are 0 or results that are not stored.
  for (int i = threadIdx.x * 16; i < 2 * shape.buffer_bytes; i += kThreads * 16) {
    *from_shared<uint4>(pixels + i) = uint4{};
  }
  // Bands are dealt out in turn, so that all blocks together write one part of the output at a time.
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
    __syncthreads();  // this band's pixels have come, and all threads are done with the other buffer
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

    // Where this lane's halves of the band's first pixel belong.
    const int pixels_before = first_row * shape.columns, maps_before = first_map + (Layer::kOfEight > 0 ? 8 : 0);
    unsigned char* eight = to + 2 * (first_map * plane + pixels_before * 8 + part * Layer::kOfEight);
    unsigned char* four = to + 2 * (maps_before * plane + pixels_before * 4 + part * Layer::kOfFour);
    opaque(eight);
    opaque(four);
    // Results of a turn, for a strip that begins at `place` and has `exist` rows.
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
      float sums[2][kColumns][4];  // of a turn and of the one before it
#pragma unroll
      for (int turn = 0; turn < kTurns; ++turn) {
        const int row = turn / Products::kGroups, next = row + Products::kOperands - 1;
        if (turn % Products::kGroups == 0) set_operand(operands[next], bytes + 2 * next);
        products.begin(sums[turn % 2], operands + row, turn % Products::kGroups);
        if (turn == kTurns - Products::kGroups) {  // all pixels are in operands
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
    const int left = first_map == 0 && first_row + rows == shape.rows ? shape.left_bytes : 0;  // by one pass alone
    if (const int word = threadIdx.x * 4; word < left) {  // these are less than 128
      *reinterpret_cast<uint32_t*>(to + (shape.image_bytes - left) + word) = 0;
    }
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
