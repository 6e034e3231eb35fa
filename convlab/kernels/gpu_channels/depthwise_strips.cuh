#pragma once

// Depthwise convolutions of Layout::channels_last whose filters are squares of 3 or 5 and whose strides are 1 or 2. A thread
// makes 2 channels of a strip, some outputs side by side, and goes down the image: it loads an input pixel once, and adds
// what it gives to all rows of outputs that it belongs to, whose sums it keeps in registers, as it does the filters.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/device.h"
#include "convlab/device/early_launch.cuh"
#include "convlab/kernels/cpu_channels/channels.h"
#include "convlab/kernels/gpu_channels/pixel_end.cuh"
#include "convlab/kernels/gpu_channels/pixel_op.h"
#include "convlab/kernels/gpu_channels/quick_activation.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

inline constexpr int kStripThreads = 128;

/// Outputs of a strip: networks' maps are 7 * 2^i wide.
constexpr int strip_width(int taps, int stride) { return taps == 5 && stride == 2 ? 4 : 7; }

/// Rows that are on their way while one is multiplied: where registers have room for two, memory has longer to answer.
template <class Element, int kTaps, int kStride>
inline constexpr int kStripAhead = kTaps == 3 && kStride == 1 && kIsHalf<Element> ? 2 : 1;

/// Blocks that one multiprocessor holds, as the registers of their threads allow.
template <class Element, int kTaps, int kStride>
inline constexpr int kStripBlocks = kTaps == 3 ? 5 - kStripAhead<Element, kTaps, kStride> : kStride + 1;

/// How a convolution is cut: an image into bands of rows, a band into strips. A block makes some neighbouring strips of a
/// band, of some channels.
struct StripCut {
  int rows = 0;      ///< of outputs, in a band
  int bands = 0;     ///< of an image
  int together = 0;  ///< strips of a block
  int groups = 0;    ///< of so many strips, in a row
  int pairs = 0;     ///< of channels, in a block
  int tiles = 0;     ///< of so many pairs

  int64_t blocks(int64_t images) const { return checked_product({images, bands, groups, tiles}); }
};

/// The cut into blocks of at most so many threads, without bands.
inline StripCut cut_columns(const ConvShape& shape, int width, int64_t threads) {
  constexpr int64_t kPairsTogether = 32;  // of which a warp loads 128 bytes
  const int64_t pairs = shape.c / 2, strips = ceil_div(shape.q, width);
  StripCut cut;
  cut.groups = static_cast<int>(ceil_div(strips, threads / std::min(pairs, kPairsTogether)));
  cut.together = static_cast<int>(ceil_div(strips, cut.groups));
  const int64_t most_pairs = threads / cut.together / 4 * 4;
  cut.pairs = static_cast<int>(round_up(ceil_div(pairs, ceil_div(pairs, most_pairs)), 4));
  cut.tiles = static_cast<int>(ceil_div(pairs, cut.pairs));
  return cut;
}

/// The cut that takes the least time. Its unit is what a row of a block of kStripThreads takes a busy multiprocessor: where
/// it is not busy, a row takes as long as memory does to answer. `held`: blocks that one holds.
inline StripCut cut_strips(const ConvShape& shape, int taps, int stride, int held, const DeviceCaps& caps) {
  constexpr int64_t kMostBands = 64;
  constexpr int64_t kAnswer = 3;       // units until memory answers
  constexpr int64_t kRowsToBegin = 3;  // what a block takes before its first row, in rows
  const int64_t processors = std::max(caps.multiprocessors, 1);
  int64_t least = 0, least_parts = 1;  // a time in parts of units
  StripCut best;
  for (const int64_t parts : {1, 2}) {  // of kStripThreads
    StripCut cut = cut_columns(shape, strip_width(taps, stride), kStripThreads / parts);
    for (int64_t bands = 1; bands <= std::min<int64_t>(shape.p, kMostBands); ++bands) {
      cut.rows = static_cast<int>(ceil_div(shape.p, bands));
      cut.bands = static_cast<int>(ceil_div(shape.p, cut.rows));
      const int64_t rows = (cut.rows - 1) * stride + taps, blocks = ceil_div(cut.blocks(shape.n), processors);
      const int64_t waves = ceil_div(blocks, held * parts);
      const int64_t time = std::max(kAnswer * parts * waves * (rows + kRowsToBegin), blocks * rows);
      if (best.bands == 0 || time * least_parts < least * parts) least = time, least_parts = parts, best = cut;
    }
  }
  return best;
}

/// pixel + step by an addition: a compiler that sees several of these multiplies instead, which takes more instructions.
template <class Element>
__device__ const Element* stepped(const Element* pixel, int64_t step) {
  pixel += step;
#ifdef __CUDA_ARCH__
  asm("" : "+l"(pixel));
#endif
  return pixel;
}

/// What follows the sums in registers.
enum class StripEnd { clamp, swish, hard_swish };

template <class Element, StripEnd kEnd>
__device__ float ended(const Clamp& clamp, float value) {
  if constexpr (kEnd == StripEnd::swish) return activated_as<Element>({ActivationKind::swish}, value);
  if constexpr (kEnd == StripEnd::hard_swish) return activated_as<Element>({ActivationKind::hard_swish}, value);
  return clamped(clamp, value);
}

/// A pair of channels, read by the cache for what nobody writes.
template <class Element>
__device__ PixelPair<Element> load_pair(const Element* from) {
  return __ldg(reinterpret_cast<const PixelPair<Element>*>(from));
}

/// What follows the sums of a strip, of which `count` exist, from a pixel on.
template <StripEnd kEnd, class Element, int kStrip>
__device__ __forceinline__ void finish_strip(const PixelConvOf<Element>& conv, const Clamp& clamp,
                                             float2 (&sums)[kStrip], int64_t pixel, int channel, int count) {
  if (conv.added != nullptr) {
    const Element* from = conv.added + pixel * conv.added_step + channel;
    PixelPair<Element> added[kStrip];
#pragma unroll
    for (int q = 0; q < kStrip; ++q, from += conv.added_step) {
      added[q] = q < count ? load_pair(from) : pair_of<Element>(0, 0);
    }
#pragma unroll
    for (int q = 0; q < kStrip; ++q) {
      const float2 other = floats_of(added[q]);
      sums[q].x += other.x;
      sums[q].y += other.y;
    }
  }
  Element* y = conv.y + pixel * conv.y_step + channel;
#pragma unroll
  for (int q = 0; q < kStrip; ++q, y += conv.y_step) {
    const auto result =
        pair_of<Element>(ended<Element, kEnd>(clamp, sums[q].x), ended<Element, kEnd>(clamp, sums[q].y));
    if (q < count) *reinterpret_cast<PixelPair<Element>*>(y) = result;
  }
}

/// conv.w: [tap][channel], in float32.
template <class Element, int kTaps, int kStride, StripEnd kEnd>
__global__ void __launch_bounds__(kStripThreads, (kStripBlocks<Element, kTaps, kStride>))
    convolve_strips(const PixelConvOf<Element> conv, const StripCut cut, const Clamp clamp) {
  constexpr int kAhead = kStripAhead<Element, kTaps, kStride>;
  constexpr int kStrip = strip_width(kTaps, kStride);
  constexpr int kColumns = (kStrip - 1) * kStride + kTaps;
  constexpr int kSlots = (kTaps + kStride - 1) / kStride;  // rows of sums that an input row may belong to
  constexpr int kPeriod = kSlots * kStride;                // after so many input rows, slots are what they were
  begin_in_turn();
  const ConvShape& shape = conv.shape;
  const int tile = blockIdx.x % cut.tiles, group = blockIdx.x / cut.tiles % cut.groups;
  const int band = blockIdx.x / cut.tiles / cut.groups % cut.bands;
  const int64_t image = blockIdx.x / cut.tiles / cut.groups / cut.bands;
  const int channel = (tile * cut.pairs + threadIdx.x % cut.pairs) * 2;
  const int first_column = (group * cut.together + threadIdx.x / cut.pairs) * kStrip;
  if (channel >= shape.c || first_column >= shape.q) return;
  const int first_row = band * cut.rows, outputs = min(cut.rows, shape.p - first_row);
  const int top = first_row * kStride - shape.pad_top, rows = (outputs - 1) * kStride + kTaps;
  const int left = first_column * kStride - shape.pad_left;

  float2 filter[kTaps * kTaps];
#pragma unroll
  for (int tap = 0; tap < kTaps * kTaps; ++tap) {
    filter[tap] = __ldg(reinterpret_cast<const float2*>(static_cast<const float*>(conv.w) + tap * shape.c + channel));
  }
  float2 bias = make_float2(0, 0);
  if (conv.bias != nullptr) bias = make_float2(conv.bias[channel], conv.bias[channel + 1]);

  unsigned inside = 0;  // by column
#pragma unroll
  for (int column = 0; column < kColumns; ++column) {
    if (left + column >= 0 && left + column < shape.w) inside |= 1u << column;
  }
  const int64_t row_step = shape.w * conv.x_step;
  const Element* next = conv.x + ((image * shape.h + top) * shape.w + left) * conv.x_step + channel;
  const auto in_image = [&](int row) { return row < rows && top + row >= 0 && top + row < shape.h; };
  PixelPair<Element> given[kAhead][kColumns];  // what is in the padding is never loaded, and stays zero
#pragma unroll
  for (auto& of_row : given) {
#pragma unroll
    for (PixelPair<Element>& pair : of_row) pair = pair_of<Element>(0, 0);
  }
  const auto load = [&](int row, PixelPair<Element>(&to)[kColumns]) {
    if (in_image(row)) {
      const Element* pixel = next;
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        if (inside >> column & 1u) to[column] = load_pair(pixel);
        pixel = stepped(pixel, conv.x_step);
      }
    }
    next += row_step;
  };

  // Outputs whose first row is in the padding begin with the bias here, others when that row is multiplied.
  float2 sums[kSlots][kStrip];
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
#pragma unroll
    for (float2& sum : sums[slot]) sum = bias;
  }
#pragma unroll
  for (int row = 0; row < kAhead; ++row) load(row, given[row]);
  for (int begin = 0; begin < rows; begin += kAhead * kPeriod) {
#pragma unroll
    for (int i = 0; i < kAhead * kPeriod; ++i) {
      const int row = begin + i, phase = i % kPeriod;
      if (row >= rows) break;
      const bool counts = in_image(row);
      float2 x[kColumns];
#pragma unroll
      for (int column = 0; column < kColumns; ++column) x[column] = floats_of(given[i % kAhead][column]);
      load(row + kAhead, given[i % kAhead]);  // while this one is multiplied
#pragma unroll
      for (int r = 0; r < kTaps; ++r) {
        if ((phase - r + kPeriod) % kStride != 0) continue;
        float2(&slot)[kStrip] = sums[(phase - r + kPeriod) / kStride % kSlots];
        if (!counts || row < r || row - r > (outputs - 1) * kStride) continue;
#pragma unroll
        for (int s = 0; s < kTaps; ++s) {
          const float2 w = filter[r * kTaps + s];
#pragma unroll
          for (int q = 0; q < kStrip; ++q) {
            const float2 pair = x[q * kStride + s], sum = r == 0 && s == 0 ? bias : slot[q];
            slot[q] = make_float2(fmaf(pair.x, w.x, sum.x), fmaf(pair.y, w.y, sum.y));
          }
        }
      }
      // The row of outputs to which this was the last to add.
      if ((phase + kPeriod - (kTaps - 1)) % kStride != 0) continue;
      const int output = (row - (kTaps - 1)) / kStride;
      if (row < kTaps - 1 || output >= outputs) continue;
      const int64_t pixel = (image * shape.p + first_row + output) * shape.q + first_column;
      finish_strip<kEnd>(conv, clamp, sums[(phase + kPeriod - (kTaps - 1)) / kStride % kSlots], pixel, channel,
                         min(kStrip, shape.q - first_column));
    }
  }
}

template <int kTaps, int kStride, class Element>
void launch_strips_of(const PixelConvOf<Element>& conv, Stream& stream) {
  const StripCut cut = cut_strips(conv.shape, kTaps, kStride, kStripBlocks<Element, kTaps, kStride>, stream.caps());
  const LaunchShape blocks{.grid = cut.blocks(conv.shape.n), .block = int64_t{cut.pairs} * cut.together, .early = true};
  const Clamp clamp = clamp_of(conv.activation).value_or(Clamp{});
  switch (conv.activation.kind) {
    case ActivationKind::swish:
      return launch(convolve_strips<Element, kTaps, kStride, StripEnd::swish>, blocks, stream.native(), conv, cut,
                    clamp);
    case ActivationKind::hard_swish:
      return launch(convolve_strips<Element, kTaps, kStride, StripEnd::hard_swish>, blocks, stream.native(), conv, cut,
                    clamp);
    default:
      return launch(convolve_strips<Element, kTaps, kStride, StripEnd::clamp>, blocks, stream.native(), conv, cut,
                    clamp);
  }
}

/// Whether launch_strips() computes this.
template <class Element>
bool fits_strips(const PixelConvOf<Element>& conv) {
  const ConvShape& shape = conv.shape;
  const bool square = shape.r == shape.s && (shape.r == 3 || shape.r == 5);
  const bool even = shape.stride_h == shape.stride_w && shape.stride_h <= 2;
  // At most the first rows of outputs begin in the padding above, and none below.
  const bool padded = shape.pad_top < shape.r && (shape.p - 1) * shape.stride_h - shape.pad_top < shape.h;
  const ActivationKind kind = conv.activation.kind;
  const bool ends = clamp_of(conv.activation) || kind == ActivationKind::swish || kind == ActivationKind::hard_swish;
  return square && even && padded && ends && shape.dilation_h == 1 && shape.dilation_w == 1;
}

template <class Element>
void launch_strips(const PixelConvOf<Element>& conv, Stream& stream) {
  const bool wide = conv.shape.r == 5, strides = conv.shape.stride_h == 2;
  if (wide) return strides ? launch_strips_of<5, 2>(conv, stream) : launch_strips_of<5, 1>(conv, stream);
  return strides ? launch_strips_of<3, 2>(conv, stream) : launch_strips_of<3, 1>(conv, stream);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
