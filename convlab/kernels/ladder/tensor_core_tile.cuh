#pragma once

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/ladder/tensor_core_range.cuh"
#include "convlab/kernels/ladder/tensor_core_staging.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Implicit GEMM on tensor cores: a convolution as a matrix product, without unrolling the image. The tensor-core rungs
// share this code and supply the arithmetic. The product is pixels x terms times terms x output channels, where terms
// are the elements of the reduction over C * R * S:
//   - A block computes 896 consecutive output pixels of an image and up to 24 output channels. Its pixels are the rows
//     of A, in tiles of 16. Each of 8 warps owns seven tiles and keeps their sums for all output channels in registers.
//   - Terms are multiplied in groups: some channels of a pixel or, if that makes fewer groups (an image of one
//     channel), some adjacent pixels of its row. Shared memory holds each group of each pixel. A filter tap is an
//     offset there, so offsets replace im2col. Each word of a group is in a separate plane, so that a lane loads it
//     directly into the right register of A, and the lanes use different banks.
//   - Filters are in shared memory in the order of B's fragments, so that a lane loads its own in one access.
//   - Sums return through shared memory, separately for each warp: a fragment has only eight consecutive pixels of an
//     output channel, while y is stored by rows.
// Blocks are persistent over images: if all channels fit, filters are staged once.
//
// An Arithmetic provides:
//   - kTilesAtOnce, the tiles whose sums fit in registers;
//   - kRanged, whether values outside fp16 range fall back to direct fp32 summation;
//   - kGroup, the terms in a group, and kWords, the words that hold them; stage(word, value) makes a word from pixels;
//   - B, a lane's filter fragment of a step for 8 output channels; pack(value) makes it;
//   - multiply(sum, a, b), where a[2][kWords] are the lane's words of rows g and g + 8.

constexpr size_t kSharedBytes = 112 * 1024;  // two blocks per SM with 227 KiB

/// Adds the products of all steps to the sums of kTiles tiles of a warp, starting with its tile kFirst.
template <class Arithmetic, int kColumns, int kFirst, int kTiles>
__device__ void multiply_tiles(float (&sum)[kTiles][kColumns][4], uint32_t (&base)[kTilesOfWarp],
                               const typename Arithmetic::B* filters, const GroupPlace* places, const uint32_t* words,
                               int plane, int steps) {
  const int lane = threadIdx.x % 32;
  for (int step = 0; step < steps; ++step) {
    const GroupPlace place = places[step * 4 + lane % 4];
    typename Arithmetic::B b[kColumns];
#pragma unroll
    for (int column = 0; column < kColumns; ++column) b[column] = filters[(step * kColumns + column) * 32 + lane];
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      uint32_t a[2][Arithmetic::kWords];
      uint32_t& pixels = base[kFirst + i];
      opaque(pixels);  // unpack in every step: unpacking once takes twice the registers
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int pixel = half == 0 ? pixels & 0xffff : pixels >> 16, at = pixel * place.stride + place.offset;
#pragma unroll
        for (int word = 0; word < Arithmetic::kWords; ++word) {
          a[half][word] = *reinterpret_cast<const uint32_t*>(reinterpret_cast<const char*>(words + word * plane) + at);
        }
      }
      Arithmetic::template multiply<kColumns>(sum[i], a, b);
    }
  }
}

/// kWhole: all input channels are staged at once.
template <class Arithmetic, int kColumns, bool kWhole>
__global__ void __launch_bounds__(kThreads, 2)
    convolve_tensor_core(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                         const ConvShape shape, const TensorTile tile) {
  using B = typename Arithmetic::B;
  constexpr int kWords = Arithmetic::kWords;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, g = lane / 4;

  const int taps = tile.neighbors ? shape.r : shape.r * shape.s, area = tile.height * tile.pitch;
  const int most_groups = groups_of_pixel<Arithmetic>(tile.channels, shape.s, tile.neighbors);
  const int most_steps = (most_groups * taps + 3) / 4, plane = 1 + most_groups * area;
  auto* filters = dynamic_shared<B>();                                                 // [step][column][lane]
  auto* places = reinterpret_cast<GroupPlace*>(filters + most_steps * kColumns * 32);  // [step][t]
  auto* all_results = reinterpret_cast<float*>(places + most_steps * 4);  // [warp][8 output channels][pixels]
  float* results = all_results + warp * 8 * kResultPitch;
  auto* words = reinterpret_cast<uint32_t*>(all_results + kWarps * 8 * kResultPitch);  // [kWords][plane]

  const int first_map = blockIdx.y * kColumns * 8, image_pixels = shape.p * shape.q;
  const int first_pixel = blockIdx.x * kBlockPixels, first_of_warp = first_pixel + warp * kWarpPixels;
  const int first_row = first_pixel / shape.q;
  const int first_h = first_row * shape.stride_h - shape.pad_top, first_w = -shape.pad_left;
  uint32_t base[kTilesOfWarp];  // this lane's two staged pixels of each tile, in 16 bits each to save registers
  for (int i = 0; i < kTilesOfWarp; ++i) {
    base[i] = 0;
    for (int half = 0; half < 2; ++half) {  // past the end, use the last pixel
      const int pixel = min(first_of_warp + i * 16 + half * 8 + g, image_pixels - 1), q = pixel % shape.q;
      const int row = (pixel / shape.q - first_row) * shape.stride_h;
      base[i] |= (row * tile.pitch + (tile.neighbors ? q : q * shape.stride_w)) << 16 * half;
    }
  }
  if (thread < kWords) words[thread * plane] = 0;
  [[maybe_unused]] bool filters_out_of_range = false;

  for (int n = blockIdx.z; n < shape.n; n += gridDim.z) {
    bool fall_back = false;              // whether values are outside the range of Arithmetic
    const auto stage = [&](int first) {  // stages channels from `first` on, returns the steps to multiply
      const int channels = kWhole ? shape.c : min(tile.channels, shape.c - first);
      const int groups = groups_of_pixel<Arithmetic>(channels, shape.s, tile.neighbors);
      const int steps = (groups * taps + 3) / 4;
      const float* image = x + (int64_t{n} * shape.c + first) * shape.h * shape.w;
      const uint32_t largest =
          tile.neighbors
              ? stage_pixels<Arithmetic, true>(image, words, plane, shape, tile, channels, first_h, first_w)
              : stage_pixels<Arithmetic, false>(image, words, plane, shape, tile, channels, first_h, first_w);
      if (!kWhole || n == blockIdx.z) {
        const uint32_t largest_filter = stage_filters<Arithmetic, kColumns>(w + first * shape.r * shape.s, filters,
                                                                            places, shape, tile, channels, first_map);
        if constexpr (Arithmetic::kRanged) filters_out_of_range = out_of_range(largest_filter);
      }
      if constexpr (Arithmetic::kRanged) {
        if (out_of_range(largest) || filters_out_of_range) fall_back = true;
      } else {
        __syncthreads();
      }
      if (first == 0) {
        const int image_size = shape.c * shape.h * shape.w, lines = gridDim.z < shape.n - n ? image_size : 0;
        const float* next = x + (int64_t{n} + gridDim.z) * image_size;
        for (int i = thread * 32; i < lines; i += kThreads * 32) prefetch_line(next + i);
      }
      return first_of_warp < image_pixels ? steps : 0;
    };
    float* to = y + (int64_t{n} * shape.k + first_map) * image_pixels + first_of_warp;
    const int maps = shape.k - first_map, count = image_pixels - first_of_warp;
    const auto sum_directly = [&] {
      convolve_plainly(x + int64_t{n} * shape.c * shape.h * shape.w, w, to - warp * kWarpPixels, shape, first_map,
                       min(maps, kColumns * 8), first_pixel, min(kBlockPixels, image_pixels - first_pixel));
    };
    constexpr int kFirst = kWhole ? Arithmetic::kTilesAtOnce : kTilesOfWarp, kRest = kTilesOfWarp - kFirst;
    if constexpr (kRest == 0) {
      float sum[kTilesOfWarp][kColumns][4];
      for (int first = 0; first < (kWhole ? 1 : shape.c); first += tile.channels) {
        const int steps = stage(first);
        if (first == 0) {
#pragma unroll
          for (int i = 0; i < kTilesOfWarp * kColumns * 4; ++i) (&sum[0][0][0])[i] = 0;
        }
        multiply_tiles<Arithmetic, kColumns, 0>(sum, base, filters, places, words, plane, steps);
        __syncthreads();
      }
      fall_back ? sum_directly() : store_tiles(sum, results, to, maps, count, image_pixels);
    } else {
      const int steps = stage(0);
      if (fall_back) {
        sum_directly();
        continue;
      }
      {
        float sum[kFirst][kColumns][4] = {};
        multiply_tiles<Arithmetic, kColumns, 0>(sum, base, filters, places, words, plane, steps);
        store_tiles(sum, results, to, maps, count, image_pixels);
      }
      float sum[kRest][kColumns][4] = {};
      multiply_tiles<Arithmetic, kColumns, kFirst>(sum, base, filters, places, words, plane, steps);
      __syncthreads();
      store_tiles(sum, results, to + kFirst * 16, maps, count - kFirst * 16, image_pixels);
    }
  }
}

/// Returns the columns of 8 output channels per block: 1, 2 or 3, whichever wastes the fewest channels; on a tie,
/// the most.
inline int tensor_columns(int64_t maps) {
  int best = 1;
  for (int columns : {2, 3}) {
    if (round_up(maps, columns * 8) <= round_up(maps, best * 8)) best = columns;
  }
  return best;
}

/// Partitions a problem. `channels` is 0 if not even one input channel fits in shared memory.
template <class Arithmetic>
TensorTile tensor_tile(const ConvProblem& problem) {
  constexpr int64_t kGroup = Arithmetic::kGroup;
  const int64_t c = problem.c, r = problem.r, s = problem.s;
  const bool neighbors = c * r * ceil_div(s, kGroup) < ceil_div(c, kGroup) * r * s;
  const int64_t rows = std::min(problem.p(), (kBlockPixels - 2) / problem.q() + 2);
  const int64_t height = (rows - 1) * problem.stride_h + (r - 1) * problem.dilation_h + 1;
  // Adjacent rows start in different banks with one, two or three contiguous groups.
  const int64_t pitch = neighbors ? round_up(problem.q() + 4, 8) - 4
                                  : (problem.q() - 1) * problem.stride_w + (s - 1) * problem.dilation_w + 1;
  const int64_t taps = neighbors ? r : r * s, columns = tensor_columns(problem.k);
  const auto fits = [&](int64_t channels) {
    const int64_t groups = neighbors ? channels * ceil_div(s, kGroup) : ceil_div(channels, kGroup);
    const int64_t steps = ceil_div(groups * taps, 4);
    const auto bytes = [](int64_t count, size_t size) { return count * static_cast<int64_t>(size); };
    return bytes(kWarps * 8 * kResultPitch, sizeof(float)) +
               bytes(steps * columns * 32, sizeof(typename Arithmetic::B)) + bytes(steps * 4, sizeof(GroupPlace)) +
               bytes((1 + groups * height * pitch) * Arithmetic::kWords, sizeof(uint32_t)) <=
           static_cast<int64_t>(kSharedBytes);
  };
  int64_t channels = c;
  if (!fits(c)) {  // whole groups and, if possible, whole blocks of groups
    const int64_t unit = neighbors ? 1 : fits(kBlocked * kGroup) ? kBlocked * kGroup : kGroup;
    channels = 0;
    while (fits(channels + unit)) channels += unit;
  }
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  return {narrow(height), narrow(pitch), narrow(channels), neighbors};
}

template <class Arithmetic>
Refusal refuses_tensor_core(const ConvStep& step, const DeviceCaps& caps) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  if (step.problem.groups != 1) return "groups are not supported";
  if (caps.compute_capability < 80) return "compute capability 8.0 or later is required";
  if (caps.shared_bytes_per_block < kSharedBytes) return "112 KiB of shared memory per block are required";
  if (tensor_tile<Arithmetic>(step.problem).channels == 0) {
    return "the input pixels of 896 outputs do not fit in shared memory";
  }
  return std::nullopt;
}

template <class Arithmetic>
void launch_tensor_core(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const TensorTile tile = tensor_tile<Arithmetic>(problem);
  const int columns = tensor_columns(problem.k);
  const int64_t parts = ceil_div(problem.p() * problem.q(), kBlockPixels), chunks = ceil_div(problem.k, columns * 8);
  constexpr int64_t kBlocks = 1056;  // persistent: a few per resident slot of the largest GPUs, to even out the tail
  const dim3 grid(parts, chunks, std::clamp<int64_t>(kBlocks / (parts * chunks), 1, problem.n));
  const auto with = [&](auto kernel) {
    launch(kernel, {.grid = grid, .block = kWarps * 32, .shared_bytes = kSharedBytes}, stream.native(),
           static_cast<const float*>(args.x), args.w, args.y, kernel_shape(problem), tile);
  };
  const auto with_columns = [&]<int kColumns>() {
    if (tile.channels == problem.c) return with(convolve_tensor_core<Arithmetic, kColumns, true>);
    with(convolve_tensor_core<Arithmetic, kColumns, false>);
  };
  if (columns == 1) return with_columns.template operator()<1>();
  if (columns == 2) return with_columns.template operator()<2>();
  with_columns.template operator()<3>();
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
