#pragma once

// Depthwise convolutions in nhwc with filters of 3x3 or 5x5 and strides of 1 or 2. A thread computes some channels of a
// strip, several adjacent outputs, and moves down the image: it loads an input pixel once and adds its products to all
// output rows that use it. Their sums and the filters stay in registers. Meanwhile, the next rows are prefetched: see
// strip_rows.cuh.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/device.h"
#include "convlab/device/early_launch.cuh"
#include "convlab/kernels/cpu/nchw8c/channels.h"
#include "convlab/kernels/cuda/nhwc/pixel_op.h"
#include "convlab/kernels/cuda/nhwc/quick_activation.cuh"
#include "convlab/kernels/cuda/nhwc/strip_rows.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// Limit for bands of any number of output rows.
inline constexpr int kAnyRows = 1 << 20;

/// Strips of one element type, filter size and stride. `kShared`: prefetched rows are in shared memory, which holds
/// more of them than registers do, and is slower to read.
template <class Element_, int kTaps_, int kStride_, bool kShared_>
struct StripOf {
  using Element = Element_;
  static constexpr int kTaps = kTaps_, kStride = kStride_;
  static constexpr bool kShared = kShared_, kWide = kTaps == 5;

  /// Pairs of channels per thread: L2 serves requests of 8 bytes per thread at the speed of memory.
  static constexpr int kPairs = kIsHalf<Element> && kShared ? 2 : 1;
  /// Outputs of a strip: networks' feature maps are 7 * 2^i wide.
  static constexpr int kWidth = kPairs == 2 || (kWide && kStride == 2) ? 4 : 7;
  static constexpr int kColumns = (kWidth - 1) * kStride + kTaps;
  static constexpr int kSums = (kTaps + kStride - 1) / kStride;  ///< output rows that an input row may belong to
  static constexpr int kPeriod = kSums * kStride;  ///< input rows until output rows map to the same sums again

  /// Blocks per multiprocessor, as registers allow.
  static constexpr int kBlocks = kWide ? kStride + 1 : kShared ? 4 : 3;

  /// Maximum output rows of a band, as measured on an H100. With many short bands instead of few long ones, the blocks
  /// that run at the same time access nearby memory.
  static constexpr int most_rows() {
    if (kWide) return kStride == 2 ? 7 : kAnyRows;
    if (!kIsHalf<Element>) return 4 / kStride;
    return kStride == 2 ? 4 : kShared ? 8 : 14;
  }

  using Part = PixelPart<Element, kPairs>;
  using Rows =
      std::conditional_t<kShared, RowsInShared<Part, kColumns, 3>, RowsInRegisters<Part, kColumns, kWide ? 1 : 2>>;
};

/// Partition of a convolution: an image into bands of rows, a band into strips. A block computes some adjacent strips
/// of a band, for some channels.
struct StripCut {
  int rows = 0;      ///< output rows per band
  int bands = 0;     ///< per image
  int together = 0;  ///< strips per block
  int groups = 0;    ///< groups of `together` strips per row
  int parts = 0;     ///< PixelParts of a pixel per block
  int tiles = 0;     ///< groups of `parts` parts per pixel

  int64_t blocks(int64_t images) const { return checked_product({images, bands, groups, tiles}); }
};

/// Returns the partition into blocks of at most `threads` threads, without bands.
template <class Strip>
StripCut cut_columns(const ConvShape& shape, int64_t threads) {
  constexpr int64_t kTogether = 32 / Strip::kPairs;  // adjacent parts that a warp loads
  const int64_t parts = shape.c / 2 / Strip::kPairs, strips = ceil_div(shape.q, Strip::kWidth);
  StripCut cut;
  cut.groups = static_cast<int>(ceil_div(strips, threads / std::min(parts, kTogether)));
  cut.together = static_cast<int>(ceil_div(strips, cut.groups));
  const int64_t most_parts = threads / cut.together / 4 * 4;
  cut.parts = static_cast<int>(round_up(ceil_div(parts, ceil_div(parts, most_parts)), 4));
  cut.tiles = static_cast<int>(ceil_div(parts, cut.parts));
  return cut;
}

/// Returns the partition that takes the least time by an estimate. The unit is the time that a busy multiprocessor
/// takes for a row of a block of kStripThreads. On a multiprocessor that is not busy, a row takes the memory latency.
template <class Strip>
StripCut cut_strips(const ConvShape& shape, const DeviceCaps& caps) {
  constexpr int64_t kMostBands = 64;
  constexpr int64_t kAnswer = 3;       // memory latency, in units
  constexpr int64_t kRowsToBegin = 3;  // start of a block, in rows
  const int64_t processors = std::max(caps.multiprocessors, 1);
  const int64_t least_bands = ceil_div(shape.p, Strip::most_rows());
  int64_t least = 0, least_parts = 1;  // the least time is `least` / `least_parts` units
  StripCut best;
  for (const int64_t parts : {1, 2}) {  // a block has kStripThreads / parts threads
    StripCut cut = cut_columns<Strip>(shape, kStripThreads / parts);
    for (int64_t bands = least_bands; bands <= std::min<int64_t>(shape.p, least_bands + kMostBands); ++bands) {
      cut.rows = static_cast<int>(ceil_div(shape.p, bands));
      cut.bands = static_cast<int>(ceil_div(shape.p, cut.rows));
      const int64_t rows = (cut.rows - 1) * Strip::kStride + Strip::kTaps;
      const int64_t blocks = ceil_div(cut.blocks(shape.n), processors);
      const int64_t waves = ceil_div(blocks, Strip::kBlocks * parts);
      const int64_t time = std::max(kAnswer * parts * waves * (rows + kRowsToBegin), blocks * rows);
      if (best.bands == 0 || time * least_parts < least * parts) least = time, least_parts = parts, best = cut;
    }
  }
  return best;
}

/// Returns pixel + step by an addition. If the compiler sees several of these, it multiplies instead, which takes more
/// instructions.
template <class Element>
__device__ const Element* stepped(const Element* pixel, int64_t step) {
  pixel += step;
#ifdef __CUDA_ARCH__
  asm("" : "+l"(pixel));
#endif
  return pixel;
}

/// Activations of the epilogue.
enum class StripEnd { clamp, swish, hard_swish };

template <class Element, StripEnd kEnd>
__device__ float ended(const Clamp& clamp, float value) {
  if constexpr (kEnd == StripEnd::swish) return activated_as<Element>({ActivationKind::swish}, value);
  if constexpr (kEnd == StripEnd::hard_swish) return activated_as<Element>({ActivationKind::hard_swish}, value);
  return clamped(clamp, value);
}

/// Epilogue of a strip whose first `count` outputs exist, from `pixel` on.
template <class Strip, StripEnd kEnd>
__device__ __forceinline__ void finish_strip(const PixelConvOf<typename Strip::Element>& conv, const Clamp& clamp,
                                             float2 (&sums)[Strip::kWidth][Strip::kPairs], int64_t pixel, int channel,
                                             int count) {
  using Element = typename Strip::Element;
  using Part = typename Strip::Part;
  if (conv.added != nullptr) {
    const Element* from = conv.added + pixel * conv.added_step + channel;
    Part added[Strip::kWidth];
#pragma unroll
    for (int q = 0; q < Strip::kWidth; ++q, from += conv.added_step) {
      added[q] = q < count ? Part::load(from) : Part::zero();
    }
#pragma unroll
    for (int q = 0; q < Strip::kWidth; ++q) {
#pragma unroll
      for (int i = 0; i < Strip::kPairs; ++i) {
        const float2 other = floats_of(added[q].pairs[i]);
        sums[q][i].x += other.x;
        sums[q][i].y += other.y;
      }
    }
  }
  Element* y = conv.y + pixel * conv.y_step + channel;
#pragma unroll
  for (int q = 0; q < Strip::kWidth; ++q, y += conv.y_step) {
    Part result;
#pragma unroll
    for (int i = 0; i < Strip::kPairs; ++i) {
      result.pairs[i] =
          pair_of<Element>(ended<Element, kEnd>(clamp, sums[q][i].x), ended<Element, kEnd>(clamp, sums[q][i].y));
    }
    if (q < count) *reinterpret_cast<Part*>(y) = result;
  }
}

/// conv.w: [tap][channel], in float32.
template <class Strip, StripEnd kEnd>
__global__ void __launch_bounds__(kStripThreads, Strip::kBlocks)
    convolve_strips(const PixelConvOf<typename Strip::Element> conv, const StripCut cut, const Clamp clamp) {
  constexpr int kTaps = Strip::kTaps, kStride = Strip::kStride, kPairs = Strip::kPairs, kWidth = Strip::kWidth;
  constexpr int kColumns = Strip::kColumns, kSums = Strip::kSums, kPeriod = Strip::kPeriod;
  using Element = typename Strip::Element;
  using Rows = typename Strip::Rows;
  begin_in_turn();
  const ConvShape& shape = conv.shape;
  const int tile = blockIdx.x % cut.tiles, group = blockIdx.x / cut.tiles % cut.groups;
  const int band = blockIdx.x / cut.tiles / cut.groups % cut.bands;
  const int64_t image = blockIdx.x / cut.tiles / cut.groups / cut.bands;
  const int channel = (tile * cut.parts + threadIdx.x % cut.parts) * 2 * kPairs;
  const int first_column = (group * cut.together + threadIdx.x / cut.parts) * kWidth;
  if (channel >= shape.c || first_column >= shape.q) return;
  const int first_row = band * cut.rows, outputs = min(cut.rows, shape.p - first_row);
  const int top = first_row * kStride - shape.pad_top, rows = (outputs - 1) * kStride + kTaps;
  const int left = first_column * kStride - shape.pad_left;

  float2 filter[kTaps * kTaps][kPairs], bias[kPairs];
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    const int of_pair = channel + 2 * i;
#pragma unroll
    for (int tap = 0; tap < kTaps * kTaps; ++tap) {
      const float* from = static_cast<const float*>(conv.w) + tap * shape.c + of_pair;
      filter[tap][i] = __ldg(reinterpret_cast<const float2*>(from));
    }
    bias[i] = make_float2(0, 0);
    if (conv.bias != nullptr) bias[i] = make_float2(conv.bias[of_pair], conv.bias[of_pair + 1]);
  }

  unsigned inside = 0;  // bit mask, by column
#pragma unroll
  for (int column = 0; column < kColumns; ++column) {
    if (left + column >= 0 && left + column < shape.w) inside |= 1u << column;
  }
  const int64_t row_step = shape.w * conv.x_step;
  const Element* next = conv.x + ((image * shape.h + top) * shape.w + left) * conv.x_step + channel;
  const auto in_image = [&](int row) { return row < rows && top + row >= 0 && top + row < shape.h; };
  Rows waiting;  // padding is never fetched, and stays zero
  const auto load = [&](int row, int slot) {
    if (in_image(row)) {
      const Element* pixel = next;
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        if (inside >> column & 1u) waiting.fetch(slot, column, pixel);
        pixel = stepped(pixel, conv.x_step);
      }
    }
    next += row_step;
    waiting.end_row();
  };

  // Outputs whose first input row is in the padding start from the bias here, others when that row is multiplied.
  float2 sums[kSums][kWidth][kPairs];
#pragma unroll
  for (auto& of_row : sums) {
#pragma unroll
    for (auto& of_pixel : of_row) {
#pragma unroll
      for (int i = 0; i < kPairs; ++i) of_pixel[i] = bias[i];
    }
  }
#pragma unroll
  for (int row = 0; row < Rows::kAhead; ++row) load(row, row);
  constexpr bool kInStep = kPeriod % Rows::kSlots == 0;
  // Registers need constant indices.
  constexpr int kUnrolled = kInStep || Strip::kShared ? kPeriod : kPeriod * Rows::kSlots;
  for (int begin = 0; begin < rows; begin += kUnrolled) {
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) {
      const int row = begin + i, phase = i % kPeriod;
      if (row >= rows) break;
      const bool counts = in_image(row);
      const auto slot_of = [&](int later) {
        return (kInStep || !Strip::kShared ? i + later : row + later) % Rows::kSlots;
      };
      float2 x[kColumns][kPairs];
      waiting.wait();
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        const typename Strip::Part part = waiting.part(slot_of(0), column);
#pragma unroll
        for (int j = 0; j < kPairs; ++j) x[column][j] = floats_of(part.pairs[j]);
      }
      load(row + Rows::kAhead, slot_of(Rows::kAhead));  // while this one is multiplied
#pragma unroll
      for (int r = 0; r < kTaps; ++r) {
        if ((phase - r + kPeriod) % kStride != 0) continue;
        auto& of_row = sums[(phase - r + kPeriod) / kStride % kSums];
        if (!counts || row < r || row - r > (outputs - 1) * kStride) continue;
#pragma unroll
        for (int s = 0; s < kTaps; ++s) {
#pragma unroll
          for (int q = 0; q < kWidth; ++q) {
#pragma unroll
            for (int j = 0; j < kPairs; ++j) {
              const float2 w = filter[r * kTaps + s][j], pair = x[q * kStride + s][j];
              const float2 sum = r == 0 && s == 0 ? bias[j] : of_row[q][j];
              of_row[q][j] = make_float2(fmaf(pair.x, w.x, sum.x), fmaf(pair.y, w.y, sum.y));
            }
          }
        }
      }
      // The output row to which this input row was the last to add.
      if ((phase + kPeriod - (kTaps - 1)) % kStride != 0) continue;
      const int output = (row - (kTaps - 1)) / kStride;
      if (row < kTaps - 1 || output >= outputs) continue;
      const int64_t pixel = (image * shape.p + first_row + output) * shape.q + first_column;
      finish_strip<Strip, kEnd>(conv, clamp, sums[(phase + kPeriod - (kTaps - 1)) / kStride % kSums], pixel, channel,
                                min(kWidth, shape.q - first_column));
    }
  }
}

template <class Strip>
void launch_strips_of(const PixelConvOf<typename Strip::Element>& conv, Stream& stream) {
  const StripCut cut = cut_strips<Strip>(conv.shape, stream.caps());
  const LaunchShape blocks{.grid = cut.blocks(conv.shape.n),
                           .block = int64_t{cut.parts} * cut.together,
                           .shared_bytes = Strip::Rows::kSharedBytes,
                           .early = true};
  const Clamp clamp = clamp_of(conv.activation).value_or(Clamp{});
  switch (conv.activation.kind) {
    case ActivationKind::swish:
      return launch(convolve_strips<Strip, StripEnd::swish>, blocks, stream.native(), conv, cut, clamp);
    case ActivationKind::hard_swish:
      return launch(convolve_strips<Strip, StripEnd::hard_swish>, blocks, stream.native(), conv, cut, clamp);
    default:
      return launch(convolve_strips<Strip, StripEnd::clamp>, blocks, stream.native(), conv, cut, clamp);
  }
}

/// Returns whether launch_strips() supports this convolution.
template <class Element>
bool fits_strips(const PixelConvOf<Element>& conv) {
  const ConvShape& shape = conv.shape;
  const bool square = shape.r == shape.s && (shape.r == 3 || shape.r == 5);
  const bool even = shape.stride_h == shape.stride_w && shape.stride_h <= 2;
  // Only the first output rows may begin in the padding above, and none below the image.
  const bool padded = shape.pad_top < shape.r && (shape.p - 1) * shape.stride_h - shape.pad_top < shape.h;
  const ActivationKind kind = conv.activation.kind;
  const bool ends = clamp_of(conv.activation) || kind == ActivationKind::swish || kind == ActivationKind::hard_swish;
  return square && even && padded && ends && shape.dilation_h == 1 && shape.dilation_w == 1;
}

/// Returns whether input and output exceed the GPU's L2.
template <class Element>
bool passes_cache(const ConvShape& shape, const DeviceCaps& caps) {
  const int64_t pixels = shape.h * shape.w + shape.p * shape.q;
  return checked_product({shape.n, pixels, shape.c, int64_t{sizeof(Element)}}) > caps.cache_bytes;
}

template <class Element>
void launch_strips(const PixelConvOf<Element>& conv, Stream& stream) {
  constexpr bool kFloats = !kIsHalf<Element>;
  const bool strides = conv.shape.stride_h == 2;
  if (conv.shape.r == 5) {
    return strides ? launch_strips_of<StripOf<Element, 5, 2, kFloats>>(conv, stream)
                   : launch_strips_of<StripOf<Element, 5, 1, kFloats>>(conv, stream);
  }
  if (kFloats || passes_cache<Element>(conv.shape, stream.caps())) {
    return strides ? launch_strips_of<StripOf<Element, 3, 2, true>>(conv, stream)
                   : launch_strips_of<StripOf<Element, 3, 1, true>>(conv, stream);
  }
  if constexpr (!kFloats) {
    return strides ? launch_strips_of<StripOf<Element, 3, 2, false>>(conv, stream)
                   : launch_strips_of<StripOf<Element, 3, 1, false>>(conv, stream);
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
