#pragma once

// Packs fp32 filters for kernels without tensor cores: [tile of output channels][K][output channel of the tile].

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernel

constexpr int kTilingThreads = 256;

__global__ void __launch_bounds__(kTilingThreads)
    tile_filters(const float* w, float* tiled, int maps, int terms, int tile_maps, int64_t count) {
  const int64_t i = int64_t{blockIdx.x} * kTilingThreads + threadIdx.x;
  if (i >= count) return;
  const int64_t map = i / tile_maps / terms * tile_maps + i % tile_maps, term = i / tile_maps % terms;
  tiled[i] = map < maps ? w[map * terms + term] : 0;
}

/// `w`: [output channel][K]; `tiled`: `count` floats in whole tiles, where missing output channels are zeros.
inline void pack_tiled_filters(const float* w, void* tiled, int64_t maps, int64_t terms, int tile_maps, int64_t count,
                               void* stream) {
  launch(tile_filters, {.grid = ceil_div(count, kTilingThreads), .block = kTilingThreads}, stream, w,
         static_cast<float*>(tiled), static_cast<int>(maps), static_cast<int>(terms), tile_maps, count);
}

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
