// A naive convolution kernel, correct under simt.

#include "tests/simt_kernels/samples.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {

// One thread per output element.
__global__ void conv_naive_kernel(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                                  int c, int height, int width, int k, int r, int s, int p, int q) {
  const int out = blockIdx.x * blockDim.x + threadIdx.x;
  if (out >= p * q) return;
  const int image = blockIdx.z;
  const int out_channel = blockIdx.y;
  const int row = out / q;
  const int column = out % q;
  float sum = 0.0f;
  for (int channel = 0; channel < c; ++channel) {
    for (int i = 0; i < r; ++i) {
      for (int j = 0; j < s; ++j) {
        sum += x[((image * c + channel) * height + row + i) * width + column + j] *
               w[((out_channel * c + channel) * r + i) * s + j];
      }
    }
  }
  y[((image * k + out_channel) * p + row) * q + column] = sum;
}

}  // namespace

void conv_naive(const float* x, const float* w, float* y, ConvSize z, cudaStream_t stream) {
  launch(conv_naive_kernel, {.grid = {(z.p() * z.q() + 255) / 256, z.k, z.n}, .block = 256}, stream, x, w, y, z.c, z.h,
         z.w, z.k, z.r, z.s, z.p(), z.q());
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
