#pragma once

// Packs filters for the GEMM kernels: output channel by output channel, and each of these slice by slice along K. The
// last slice is zero-padded. If Terms::kScales, an inverse scale for each output channel follows; it is negative if a
// weight is not finite, so that no fp16 product is correct.

#include "convlab/base/checked.h"
#include "convlab/kernels/cuda/nhwc/igemm_terms.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

/// Filters in fp32, with strides in elements between output channels, input channels and taps. Input channels from
/// `given` to `channels` - 1 are padding without weights.
struct PlainFilters {
  const float* w;
  int64_t map_step, channel_step, tap_step;
  int64_t taps, given, channels;
};

template <class Terms>
size_t igemm_weight_bytes(int64_t maps, int64_t slices) {
  return static_cast<size_t>(
      checked_mul(maps, checked_mul(slices, Terms::kSliceBytes) + (Terms::kScales ? sizeof(float) : 0)));
}

/// Returns K element `term` of output channel `map`, or 0 in the padding.
__device__ inline float term_of_map(const PlainFilters& filters, int64_t map, int64_t term) {
  const int64_t tap = term / filters.channels, channel = term - tap * filters.channels;
  if (tap >= filters.taps || channel >= filters.given) return 0.0f;
  return filters.w[map * filters.map_step + channel * filters.channel_step + tap * filters.tap_step];
}

/// Returns the power of two that scales the largest weight of output channel `map` into [2^14, 2^15); 1 if that is zero
/// or tiny. Stores the inverse in `undo`. All threads of the block take part.
__device__ inline float scale_map(const PlainFilters& filters, int64_t map, float* undo) {
  __shared__ uint32_t largest, others;  // of finite weights; whether some are not finite
  if (threadIdx.x == 0) largest = 0, others = 0;
  __syncthreads();
  uint32_t mine = 0;
  for (int64_t term = threadIdx.x; term < filters.taps * filters.channels; term += blockDim.x) {
    const float value = term_of_map(filters, map, term);
    if (fabsf(value) < INFINITY) {
      mine = max(mine, __float_as_uint(fabsf(value)));
    } else {
      atomicOr(&others, 1u);
    }
  }
  atomicMax(&largest, mine);
  __syncthreads();
  float factor = 1;
  const int exponent = static_cast<int>(largest >> 23);
  if (exponent > 30) factor = __uint_as_float(static_cast<uint32_t>(127 + 127 + 14 - exponent) << 23);
  if (threadIdx.x == 0) *undo = (others != 0 ? -1 : 1) / factor;
  return factor;
}

/// Each block packs one output channel.
template <class Terms>
__global__ void __launch_bounds__(256)
    pack_map(const PlainFilters filters, unsigned char* __restrict__ packed, float* __restrict__ undo, int64_t slices) {
  float factor = 1;
  if constexpr (Terms::kScales) factor = scale_map(filters, blockIdx.x, undo + blockIdx.x);
  unsigned char* const map = packed + blockIdx.x * slices * Terms::kSliceBytes;
  for (int64_t term = threadIdx.x; term < slices * Terms::kSlice; term += 256) {
    Terms::pack(term_of_map(filters, blockIdx.x, term) * factor, static_cast<int>(term % Terms::kSlice),
                map + term / Terms::kSlice * Terms::kSliceBytes);
  }
}

template <class Terms>
void pack_igemm_weights(const PlainFilters& filters, int64_t maps, void* weights, Stream& stream) {
  const int64_t slices = ceil_div(filters.taps * filters.channels, Terms::kSlice);
  auto* const undo = const_cast<float*>(igemm_undo<Terms>(weights, maps, slices));
  launch(pack_map<Terms>, {.grid = maps, .block = 256}, stream.native(), filters, static_cast<unsigned char*>(weights),
         undo, slices);
}

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
