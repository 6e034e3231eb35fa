#pragma once

#include <type_traits>

#include "convlab/device/tensor_core.cuh"
#include "convlab/kernels/conv/first_layer_pixels.cuh"
#include "convlab/kernels/conv/first_layer_plainly.cuh"
#include "convlab/kernels/conv/first_layer_results.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// A convolution of one channel with small filters on tensor cores. There are few products for each output, so all is
// about moving little and waiting seldom.
//
// Products. A matrix multiply-add takes 16 rows of 16 terms and gives 8 columns. A row is a cell: two outputs p, q and
// p, q + 1 of a row of the image, or the 2 x 2 sums that become one pooled output, in two multiply-adds, one below the
// other. The two neighbours are folded into columns: a column is one map, for the left or the right of them, and its
// filter stands shifted by one. So 12 maps are 24 columns, and no channel is padded. The terms are the pixels that both
// neighbours read: r rows of s + 1, in words of two halves, which are aligned since cells begin at even pixels. For 5x5
// these are 15 words, 30 terms of 32; what has no filter is multiplied by 0, for which values that are not finite must
// not get here.
//
//     word 0  1  2   of the row         a 5x5 filter of a map:     left output:  w0 w1 | w2 w3 | w4 0
//     pixels ab cd ef                                             right output:  0 w0 | w1 w2 | w3 w4
//
// Lane l, with group = l / 4 and thread = l % 4, holds words thread, thread + 4, ... of the cells number `group` of two
// rows of cells, one below the other: so all its addresses are 2 * steps registers, one offset, and constants. It gets
// the left and the right sum of a map side by side, as they are stored; and the maximum of 2x2 is its own.
//
// Roles. A block has a band of an image in shared memory at a time; bands are dealt out in turn.
//   1. All threads stage the band's pixels, as large and perhaps small halves, from registers, where they have been loaded
//      while the band before was computed; and find the range of the values. Where that is not that of halves, the band
//      is computed by definition, first_layer_plainly.cuh.
//   2. For each pass, which takes some of the maps: each warp multiplies groups of 16 cells and stages their results,
//      pooled and activated, in runs as they will lie in memory; then each warp begins to store some of the runs, and
//      goes on to the next pass or band while the copy engine reads them.
// Shared memory: filters as operands, and bias; pixels; results, once or twice.
//
// What was measured on an H200: bulk stores of whole runs take 0.55 ms for 2.09 GB in runs of 5.8 kB, 0.62 ms in runs of
// 1.6 kB, and 0.48 ms in one piece; a quarter longer where a run's offset from a line of memory is not that of its results
// from a line of shared memory (first_layer_results.cuh).

/// What a kernel of the family does, decided when it is compiled. Products: 3 of pixels and filters split in two halves;
/// 2 if only filters need it, since bytes are exact; or 1 of rounded values.
template <class Pixel_, int kProducts_, bool kPooled_, bool kBlocks_>
struct FirstLayer {
  using Pixel = Pixel_;
  using Result = std::conditional_t<kBlocks_, __half, float>;
  static constexpr int kProducts = kProducts_;
  static constexpr bool kPooled = kPooled_, kBlocks = kBlocks_;
  static constexpr bool kSplitPixels = kProducts == 3, kSplitFilters = kProducts >= 2;
  static constexpr bool kFinished = kPooled;  // bias and activation are part of it
  static constexpr bool kRangedPixels = std::is_same_v<Pixel, float>;
  static constexpr int kRowWords = kSplitPixels ? 2 * kPitch : kPitch;  // of a staged row of pixels
  static constexpr int kSquare = kPooled ? 2 : 1;                       // rows of sums to a row of outputs
  // Threads of a block at most, and blocks of a multiprocessor at least, for which there are registers.
  static constexpr int kMostThreads = kBlocks ? 256 : 512, kLeastBlocks = kBlocks ? 3 : 1;
  static constexpr int kUnits = kRangedPixels ? 5 : 6;  // that a thread loads while the band before is computed
};

/// The map, of those of a pass, that a column has in the results of lanes with thread % 4 == part. Two columns together
/// have 8 maps, of which a lane has neighbours: as a block of channels takes them, and where maps are staged one after
/// the other, in other banks than its neighbours'.
template <int kColumns>
__device__ int map_of(int column, int part) {
  return (column | 1) < kColumns ? column / 2 * 8 + part * 2 + column % 2 : column * 4 + part;
}

/// A lane's filters for a pass, as operands: two words of each step and column. Of a column's 8, two neighbours are one
/// map for the left and the right output of a cell.
template <int kSteps, int kColumns>
struct Filters {
  uint32_t large[kSteps][kColumns][2], small[kSteps][kColumns][2];
};

/// Stages all filters in the order in which lanes take them, those of small parts after those of large ones, then the
/// bias. Returns whether halves cannot stand for the filters. Ends with a barrier.
template <class Layer, int kSteps, int kColumns>
__device__ bool stage_filters(const float* w, const float* bias, uint32_t* staged, const FirstLayerShape& shape) {
  const int r = shape.conv.r, s = shape.conv.s, columns = shape.passes * kColumns, words = kSteps * columns * 64;
  uint32_t largest = 0;
  for (int i = threadIdx.x; i < words; i += blockDim.x) {
    const int group = i % 32 / 4, thread = i % 4, right = group % 2;
    const int half = i / 32 % 2, column = i / 64 % columns, step = i / 64 / columns;
    const int word = step * 8 + half * 4 + thread;
    const int row = word / shape.filter_words, across = word % shape.filter_words * 2 - right;
    const int map = column / kColumns * (kColumns * 4) + map_of<kColumns>(column % kColumns, group / 2);
    const float* from = w + (map * r + row) * s + across;
    const bool exists = map < shape.conv.k && row < r;
    const float first = exists && across >= 0 && across < s ? from[0] : 0;
    const float second = exists && across + 1 < s ? from[1] : 0;
    largest = larger(larger(largest, first), second);
    const SplitPair pair = split(first, second);
    staged[i] = pair.large;
    if (Layer::kSplitFilters) staged[words + i] = pair.small;
  }
  float* const staged_bias = reinterpret_cast<float*>(staged + words * (Layer::kSplitFilters ? 2 : 1));
  for (int map = threadIdx.x; map < columns * 4; map += blockDim.x) {
    staged_bias[map] = bias != nullptr && map < shape.conv.k ? bias[map] : 0;
  }
  const uint32_t range = range_of(largest);
  uint32_t of_all = 0;
  for (uint32_t flag = kTooLarge; flag <= kNotZero; flag *= 2) of_all |= __syncthreads_or(range & flag) != 0 ? flag : 0;
  return out_of_range(of_all);
}

template <class Layer, int kSteps, int kColumns>
__device__ void load_filters(Filters<kSteps, kColumns>& filters, float (&biases)[kColumns], const uint32_t* staged,
                             int pass, const FirstLayerShape& shape) {
  const int lane = threadIdx.x % 32, columns = shape.passes * kColumns, words = kSteps * columns * 64;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int at = ((step * columns + pass * kColumns + column) * 2 + half) * 32 + lane;
        filters.large[step][column][half] = staged[at];
        if (Layer::kSplitFilters) filters.small[step][column][half] = staged[words + at];
      }
    }
  }
  const float* staged_bias = reinterpret_cast<const float*>(staged + words * (Layer::kSplitFilters ? 2 : 1));
#pragma unroll
  for (int column = 0; column < kColumns; ++column) {
    biases[column] = staged_bias[pass * kColumns * 4 + map_of<kColumns>(column, lane % 4)];
  }
}

/// The sums of 16 cells, 8 of a row and 8 of the next one: of a column, [0] and [1] are the left and the right sum of the
/// first row's cell, [2] and [3] those of the second's. `words` are the lane's words for its cell of the first row, from
/// which `from` is the distance in bytes. If pooled, the larger of the sums above each other.
template <class Layer, int kSteps, int kColumns>
__device__ void convolve_cells(float (&result)[kColumns][4], const SharedWords (&words)[kSteps * 2], int from,
                               const Filters<kSteps, kColumns>& filters) {
#pragma unroll
  for (int below = 0; below < Layer::kSquare; ++below) {
    uint32_t large[kSteps][4], small[kSteps][4];
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const SharedWords at = words[step * 2 + i / 2] + from;
        const int row = i % 2 * Layer::kSquare + below;
        large[step][i] = load_word(at + row * Layer::kRowWords * 4);
        if (Layer::kSplitPixels) small[step][i] = load_word(at + (row * Layer::kRowWords + kPitch) * 4);
      }
    }
    float sum[kColumns][4] = {}, small_sum[kColumns][4] = {};
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (Layer::kSplitFilters) {
#pragma unroll
        for (int column = 0; column < kColumns; ++column) {
          mma_fp16(small_sum[column], large[step], filters.small[step][column], small_sum[column]);
        }
      }
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        mma_fp16(sum[column], large[step], filters.large[step][column], sum[column]);
      }
      if (Layer::kSplitPixels) {
#pragma unroll
        for (int column = 0; column < kColumns; ++column) {
          mma_fp16(small_sum[column], small[step], filters.large[step][column], small_sum[column]);
        }
      }
    }
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float value = Layer::kSplitFilters ? sum[column][i] + small_sum[column][i] * kSmallUnit : sum[column][i];
        result[column][i] = below == 0 ? value : fmaxf(result[column][i], value);
      }
    }
  }
}

template <bool kApproximate, int kCount>
__device__ void activate(const Activation& activation, float (&values)[kCount]) {
  switch (activation.kind) {
    case ActivationKind::none:
      break;
    case ActivationKind::tanh:
#pragma unroll
      for (float& value : values) {
#ifdef __CUDACC__
        if constexpr (kApproximate) {
          asm("tanh.approx.f32 %0, %0;" : "+f"(value));  // to 2^-11, as what it is rounded to next
        } else {
          value = tanhf(value);
        }
#else
        value = tanhf(value);
#endif
      }
      break;
    default:
#pragma unroll
      for (float& value : values) value = activated(activation, value);
  }
}

/// Stages the results of a lane's two cells, the second one a row below the first. `cell` is the first one's number.
template <class Layer, int kColumns>
__device__ void stage_results(const float (&result)[kColumns][4], const float (&biases)[kColumns],
                              const SharedWords (&places)[kColumns], int cell, const bool (&exists)[2],
                              const FirstLayerShape& shape) {
  const int thread = threadIdx.x % 4;
  constexpr int kValues = Layer::kPooled ? 2 : 4;
  float values[kColumns * kValues];
#pragma unroll
  for (int column = 0; column < kColumns; ++column) {
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      const float sum = Layer::kPooled ? fmaxf(result[column][2 * i], result[column][2 * i + 1]) : result[column][i];
      values[column * kValues + i] = Layer::kFinished ? sum + biases[column] : sum;
    }
  }
  if constexpr (Layer::kFinished) activate<Layer::kBlocks>(shape.activation, values);
  if constexpr (Layer::kBlocks) {
    static_assert(Layer::kPooled);
#pragma unroll
    for (int column = 0; column + 1 < kColumns; column += 2) {
      const SharedWords to = places[column] + cell * 16;
      const uint32_t first = to_halves(values[2 * column], values[2 * column + 2]);
      const uint32_t second = to_halves(values[2 * column + 1], values[2 * column + 3]);
      if (exists[0]) store_shared(to, first);
      if (exists[1]) store_shared(to + shape.cells * 16, second);
    }
    if constexpr (kColumns % 2 == 1) {
      // Lanes in pairs: the even one takes two maps of the first cell, the odd one of the second.
      constexpr int kLast = 2 * (kColumns - 1);
      const bool odd = thread % 2;
      const float got = __shfl_xor_sync(~0u, odd ? values[kLast] : values[kLast + 1], 1);
      const uint32_t both = to_halves(odd ? got : values[kLast], odd ? values[kLast + 1] : got);
      const SharedWords to = places[kColumns - 1] + (cell + (odd ? shape.cells : 0)) * 8;
      if (odd ? exists[1] : exists[0]) store_shared(to, both);
    }
  } else if constexpr (Layer::kPooled) {
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
      const SharedWords to = places[column] + cell * 4;
      if (exists[0]) store_shared(to, values[2 * column]);
      if (exists[1]) store_shared(to + shape.cells * 4, values[2 * column + 1]);
    }
  } else if (shape.columns % 2 == 0) {
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
      const SharedWords to = places[column] + cell * 8;
      if (exists[0]) store_shared(to, float2{values[4 * column], values[4 * column + 1]});
      if (exists[1]) store_shared(to + shape.columns * 4, float2{values[4 * column + 2], values[4 * column + 3]});
    }
  } else {
    const int row = divide(cell, shape.cells_inverse);
    const bool two = 2 * (cell - row * shape.cells) + 1 < shape.columns;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (!exists[i]) continue;
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        const SharedWords to = places[column] + (2 * cell - row + i * shape.columns) * 4;
        store_shared(to, values[4 * column + 2 * i]);
        if (two) store_shared(to + 4, values[4 * column + 2 * i + 1]);
      }
    }
  }
}

template <class Layer, int kSteps, int kColumns>
__global__ void __launch_bounds__(Layer::kMostThreads, Layer::kLeastBlocks)
    convolve_first_layer(const typename Layer::Pixel* __restrict__ x, const float* __restrict__ w,
                         const float* __restrict__ bias, typename Layer::Result* __restrict__ y,
                         const FirstLayerShape shape) {
  using Pixel = typename Layer::Pixel;
  constexpr int kSquare = Layer::kSquare, kRowWords = Layer::kRowWords, kUnits = Layer::kUnits;
  __shared__ uint32_t ranges[Layer::kMostThreads / 32];
  uint32_t* const staged_filters = dynamic_shared<uint32_t>();
  uint32_t* const pixels = dynamic_shared<uint32_t>() + shape.pixels_offset / 4;
  unsigned char* const results = dynamic_shared<unsigned char>() + shape.results_offset;
  const int threads = blockDim.x, warps = threads / 32;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, thread = lane % 4;

  const bool plain_filters = stage_filters<Layer, kSteps, kColumns>(w, bias, staged_filters, shape);
  SharedWords words[kSteps * 2];  // this lane's, of the band's first cell
#pragma unroll
  for (int i = 0; i < kSteps * 2; ++i) {
    // After the last word, that one again: its filter is 0 then.
    const int word = min(i * 4 + thread, shape.conv.r * shape.filter_words - 1);
    const int row = word / shape.filter_words, across = word % shape.filter_words;
    words[i] = shared_words(pixels + row * kRowWords + across);
  }

  // Bands are dealt out in turn, so that all blocks together write one part of the output at a time.
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
    typename Layer::Result* const to =
        Layer::kBlocks ? y + image_now * (shape.image_bytes / 2) : y + image_now * shape.conv.k * plane;
    int cells = (rows + 1) / 2 * shape.cells, next_pair = (2 * kSquare * kRowWords - shape.cells) * 4;
    opaque(cells);  // of each second row
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
      // Bytes of the image's output before a run, and where the run is staged.
      const auto begin_of = [&](int run) {
        if (!Layer::kBlocks) return ((first_map + run) * plane + first_row * shape.columns) * 4;
        return (first_map / 8 + run) * plane * 16 + first_row * shape.columns * (run < kColumns / 2 ? 16 : 8);
      };
      const auto staged_at = [&](int run) {
        const int first = shape.bands == 1 ? 0 : run;  // a band of all rows has its runs one after the other
        return staging + run * shape.run_pitch + ((reinterpret_cast<uintptr_t>(to) + begin_of(first)) & 127);
      };
      Filters<kSteps, kColumns> filters;
      float biases[kColumns];
      load_filters<Layer>(filters, biases, staged_filters, pass, shape);
      SharedWords places[kColumns];
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        if (Layer::kBlocks) {
          places[column] = shared_words(staged_at(column / 2) + (column / 2 < kColumns / 2 ? thread : thread / 2) * 4);
        } else {
          places[column] = shared_words(staged_at(map_of<kColumns>(column, thread)));
        }
      }
      for (int first = warp * 8 + group; first - group < cells; first += warps * 8) {
        const int cell = min(first, cells - 1), pair = divide(cell, shape.cells_inverse);
        float result[kColumns][4];
        convolve_cells<Layer>(result, words, cell * 4 + pair * next_pair, filters);
        const bool exists[2] = {first < cells, first < cells && 2 * pair + 1 < rows};
        stage_results<Layer>(result, biases, places, cell + pair * shape.cells, exists, shape);
      }
      const bool ends = Layer::kBlocks && first_row + rows == shape.rows && pass + 1 == shape.passes;
      const int left = ends ? static_cast<int>(shape.image_bytes) - (shape.conv.k + 3) / 4 * 4 * plane * 2 : 0;
      constexpr int kLastRun = (kColumns + 1) / 2 - 1;  // of blocks
      const int last_bytes = rows * shape.columns * (kColumns % 2 == 1 ? 8 : 16);
      for (int i = threadIdx.x * 4; i < left; i += threads * 4) {
        *reinterpret_cast<uint32_t*>(staged_at(kLastRun) + last_bytes + i) = 0;
      }
      finish_staging();
      __syncthreads();
      if constexpr (Layer::kBlocks) {
        store_runs(kLastRun + 1, [&](int run) -> Run {
          return {reinterpret_cast<unsigned char*>(to) + begin_of(run), staged_at(run),
                  run < kLastRun ? rows * shape.columns * 16 : last_bytes + left};
        });
      } else {
        const bool whole = shape.bands == 1;
        store_runs(whole ? 1 : maps, [&](int run) -> Run {
          return {reinterpret_cast<unsigned char*>(to) + begin_of(run), staged_at(run),
                  (whole ? maps : 1) * rows * shape.columns * 4};
        });
      }
    }
  }
  wait_for_stores<0>();
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
