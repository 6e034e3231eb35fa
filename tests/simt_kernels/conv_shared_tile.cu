// A convolution kernel with a shared-memory tile, correct under simt.

#include "tests/simt_kernels/samples.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {

constexpr int kTile = 16;  // output pixels of a block along each axis

// A block computes a tile of one output channel. For each input channel, its threads stage the input tile and the
// filter in dynamic shared memory.
__global__ void __launch_bounds__(kTile* kTile)
    conv_shared_tile_kernel(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                            ConvSize z) {
  const int rows = kTile + z.r - 1;
  const int columns = kTile + z.s - 1;
  float* tile = dynamic_shared<float>();
  float* filter = tile + rows * columns;
  const int tiles_across = (z.q() + kTile - 1) / kTile;
  const int row0 = blockIdx.x / tiles_across * kTile;
  const int column0 = blockIdx.x % tiles_across * kTile;
  const int out_channel = blockIdx.y;
  const int image = blockIdx.z;
  const int thread = threadIdx.y * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int channel = 0; channel < z.c; ++channel) {
    for (int i = thread; i < rows * columns; i += kTile * kTile) {
      const int row = row0 + i / columns;
      const int column = column0 + i % columns;
      tile[i] = row < z.h && column < z.w ? x[((image * z.c + channel) * z.h + row) * z.w + column] : 0.0f;
    }
    for (int i = thread; i < z.r * z.s; i += kTile * kTile)
      filter[i] = w[(out_channel * z.c + channel) * z.r * z.s + i];
    __syncthreads();
    for (int i = 0; i < z.r; ++i) {
#pragma unroll 4
      for (int j = 0; j < z.s; ++j) {
        sum += tile[(threadIdx.y + i) * columns + threadIdx.x + j] * filter[i * z.s + j];
      }
    }
    __syncthreads();
  }
  const int row = row0 + threadIdx.y;
  const int column = column0 + threadIdx.x;
  if (row < z.p() && column < z.q()) y[((image * z.k + out_channel) * z.p() + row) * z.q() + column] = sum;
}

}  // namespace

void conv_shared_tile(const float* x, const float* w, float* y, ConvSize z, cudaStream_t stream) {
  const int64_t tiles = int64_t{(z.p() + kTile - 1) / kTile} * ((z.q() + kTile - 1) / kTile);
  const size_t floats = size_t(kTile + z.r - 1) * (kTile + z.s - 1) + size_t(z.r) * z.s;
  launch(conv_shared_tile_kernel,
         {.grid = {tiles, z.k, z.n}, .block = {kTile, kTile}, .shared_bytes = floats * sizeof(float)}, stream, x, w, y,
         z);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
