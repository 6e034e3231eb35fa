#pragma once

#include "convlab/kernels/cuda/nchw_hopper/split_pixels.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Filters of cuda.nchw_hopper_3xfp16: packs them once, and computes directly with them if values are outside fp16
// range.

/// Header of the packed filters: whether they are outside fp16 range. A scale for each output channel follows.
struct SplitHeader {
  uint32_t plainly;
};
constexpr int kSplitHeaderBytes = 128;

__host__ __device__ constexpr int64_t split_filters_offset(const SplitPlan& plan) {
  return kSplitHeaderBytes + (int64_t{plan.chunks} * plan.maps * 4 + 127) / 128 * 128;
}

/// One block. Scales the largest weight of each output channel into [2^14, 2^15) by a power of two and writes all
/// weights in wgmma's order, where a column is an output channel of a filter row:
///  [chunk][step][large, small, large / kSmallScale][column / 8][K / 8 of 16][column % 8][K % 8]
///
/// Weights below 2^-18 of an output channel's largest lose bits in their parts; if there are many, everything is
/// computed directly.
static __global__ void __launch_bounds__(1024)
    pack_split_filters(const float* __restrict__ w, unsigned char* __restrict__ prepared,
                       const __grid_constant__ SplitPlan plan) {
  __shared__ uint32_t plainly;
  if (threadIdx.x == 0) plainly = 0;
  __syncthreads();
  auto* const scales = reinterpret_cast<float*>(prepared + kSplitHeaderBytes);
  const int of_map = plan.c * plan.r * plan.s, lane = threadIdx.x % 32;
  for (int map = threadIdx.x / 32; map < plan.chunks * plan.maps; map += blockDim.x / 32) {
    const float* const filter = w + map * of_map;
    const int count = map < plan.k ? of_map : 0;
    uint32_t largest = 0;
    for (int i = lane; i < count; i += 32) largest = max(largest, __float_as_uint(filter[i]) & 0x7fffffffu);
    largest = __reduce_max_sync(0xffffffffu, largest);
    const int exponent = static_cast<int>(largest >> 23);  // biased by 127; 255: infinite or NaN
    constexpr int kSmallest = 27;                          // 2^-100: its scale is finite, too
    const bool scalable = largest == 0 || (exponent >= kSmallest && exponent < 255);
    const int up = largest == 0 || !scalable ? 0 : 127 + 14 - exponent;
    const float usual = __uint_as_float(largest) * 0x1p-18f;
    unsigned small = 0, not_zero = 0;
    for (int i = lane; i < count; i += 32) {
      const float magnitude = fabsf(filter[i]);
      not_zero += magnitude > 0;
      small += magnitude > 0 && magnitude < usual;
    }
    small = __reduce_add_sync(0xffffffffu, small);
    not_zero = __reduce_add_sync(0xffffffffu, not_zero);
    constexpr unsigned kFew = 16;  // at most one in this many may be small
    if (lane == 0) {
      scales[map] = ldexpf(1, -up);
      if (!scalable || small * kFew > not_zero) atomicOr(&plainly, 1u);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) *reinterpret_cast<SplitHeader*>(prepared) = {plainly};

  __half* const packed = reinterpret_cast<__half*>(prepared + split_filters_offset(plan));
  const int columns = plan.filter_rows * plan.maps, part = columns * 16;
  for (int i = threadIdx.x; i < plan.chunks * plan.steps * part; i += blockDim.x) {
    const int in_part = i % part, step = i / part % plan.steps, chunk = i / part / plan.steps;
    const int term = in_part % 8, column = in_part / 128 * 8 + in_part / 8 % 8, tap = step * 2 + in_part / 64 % 2;
    const int r = column / plan.maps, map = chunk * plan.maps + column % plan.maps;
    const bool pair = tap >= plan.octets() * plan.s;
    const int s = pair ? (tap - plan.octets() * plan.s) * 2 + term / 4 : tap % plan.s;
    const int c = pair ? plan.octets() * 8 + term % 4 : tap / plan.s * 8 + term;
    const bool exists = tap < plan.taps() && r < plan.r && s < plan.s && c < plan.c && map < plan.k;
    // Division by a power of two is exact.
    const float weight = exists ? w[((map * plan.c + c) * plan.r + r) * plan.s + s] / scales[map] : 0;
    const float large = __half2float(__float2half_rn(weight));
    __half* const to = packed + int64_t{i / part} * 3 * part + in_part;
    to[0] = __float2half_rn(large);
    to[part] = __float2half_rn(weight - large);
    to[2 * part] = __float2half_rn(large / kSmallScale);
  }
}

/// Computes outputs directly, in fp32, of the images that the other kernel has marked, or of all.
static __global__ void __launch_bounds__(256)
    convolve_marked(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
                    float* __restrict__ y, const uint32_t* __restrict__ marks,
                    const unsigned char* __restrict__ prepared, const __grid_constant__ SplitPlan plan) {
  const bool all = reinterpret_cast<const SplitHeader*>(prepared)->plainly != 0;
  for (int i = blockIdx.x; i < plan.items() * plan.images; i += gridDim.x) {
    const int item = i / plan.images, tile = item % plan.tiles;
    const int64_t image = int64_t{item / plan.tiles} * plan.images + i % plan.images;
    if (image >= plan.n || !(all || marks[i] != 0)) continue;
    const int first_column = tile * kSplitTile, columns = min(kSplitTile, plan.q - first_column);
    const float* const pixels = x + image * plan.c * plan.h * plan.w;
    for (int j = threadIdx.x; j < plan.k * plan.p * columns; j += blockDim.x) {
      const int map = j / columns / plan.p, p = j / columns % plan.p, q = first_column + j % columns;
      const float* filter = w + map * plan.c * plan.r * plan.s;
      float sum = 0;
      for (int c = 0; c < plan.c; ++c) {
        float of_channel = 0;  // kept separate, so that a large sum does not round each small product
        for (int r = 0; r < plan.r; ++r) {
          const int h = p + r - plan.pad_top;
          for (int s = 0; s < plan.s; ++s, ++filter) {
            const int across = q + s - plan.pad_left;
            const bool inside = h >= 0 && h < plan.h && across >= 0 && across < plan.w;
            if (inside) of_channel += *filter * pixels[(c * plan.h + h) * plan.w + across];
          }
        }
        sum += of_channel;
      }
      y[((image * plan.k + map) * plan.p + p) * plan.q + q] = bias ? sum + bias[map] : sum;
    }
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
