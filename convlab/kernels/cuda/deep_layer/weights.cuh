#pragma once

#include "convlab/kernels/cuda/deep_layer/range.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// The filters of deep_layer.cuh: B fragments in the order in which consumers read them, in fp16, scaled by a power of
// two,
//   [chunk of kColumns * 8 output channels][step][filter row][column of 8 output channels][lane],
// after a header for the consumers.

struct FilterHeader {
  float unscale;      ///< 1 / the power of two
  int by_definition;  ///< the filters are outside fp16 range
  int unused[14];     ///< padding that aligns the filters
};
static_assert(sizeof(FilterHeader) == 64);

constexpr int kFilterThreads = 256;

/// One block finds the power of two. It leaves a margin of 2 bits for the parts of filters that are split between two
/// halves.
static __global__ void __launch_bounds__(kFilterThreads)
    scale_filters(const float* w, int count, FilterHeader* header) {
  __shared__ uint2 ranges[kFilterThreads / 32];
  Range range;
  for (int i = threadIdx.x; i < count; i += kFilterThreads) range.note(w[i]);
  const uint2 of_warp = range.of_warp();
  if (threadIdx.x % 32 == 0) ranges[threadIdx.x / 32] = of_warp;
  __syncthreads();
  if (threadIdx.x != 0) return;
  range = Range::joined(ranges, kFilterThreads / 32);
  const int best = range.largest == 0 ? 0 : max(-60, min(60, 14 - range.top()));
  *header = {.unscale = power_of_two(-best), .by_definition = range.fits(best, 2) ? 0 : 1};
}

/// Returns the part of an output channel's filter for element `term` of half `half`, from w[map][channel][row][tap]:
/// divided by 2 each time that it is split between two halves; 0 if the filter has none.
inline __device__ float filter_part(const DeepLayer& layer, const float* w, int filter_rows, int map, int row, int half,
                                    int term) {
  const Half at(layer, half);
  const bool pair = at.plane == layer.full_planes();
  const int channel = at.plane * 8 + (pair ? term % 4 : term), tap = at.tap + (pair ? term / 4 : 0);
  if (map >= layer.k || channel >= layer.c || tap >= layer.s) return 0;
  float part = w[((map * layer.c + channel) * filter_rows + row) * layer.s + tap];
  if (pair && layer.s % 2 == 1 && layer.s > 1 && tap == layer.s - 2) part /= 2;
  if (layer.halves() % 2 == 1 && half >= layer.halves() - 1) part /= 2;
  return part;
}

static __global__ void __launch_bounds__(kFilterThreads)
    pack_filters(DeepLayer layer, const float* w, int filter_rows, int columns, int count, const FilterHeader* header,
                 uint2* filters) {
  const int i = blockIdx.x * kFilterThreads + threadIdx.x;
  if (i >= count) return;
  const float scale = 1 / header->unscale;
  const int lane = i % 32, column = i / 32 % columns, row = i / 32 / columns % filter_rows;
  const int step = i / 32 / columns / filter_rows % layer.steps;
  const int chunk = i / 32 / columns / filter_rows / layer.steps, map = (chunk * columns + column) * 8 + lane / 4;
  uint32_t words[2];
  for (int half = 0; half < 2; ++half) {
    float part[2];
    for (int term = 0; term < 2; ++term) {
      part[term] = scale * filter_part(layer, w, filter_rows, map, row, step * 2 + half, lane % 4 * 2 + term);
    }
    words[half] = half_pair(part[0], part[1]);
  }
  filters[i] = {words[0], words[1]};
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
