// new-forward.cuh in the course's form from 2017 to 2019: y[b][m] = sum over c of x[b][c] * w[m][c].
//
//   convlab verify FILE                        on a GPU, or with --device simt on any machine
//   convlab m3.1 --kernel FILE 1000            the course's script; without a GPU leave out 1000: 10 images, on simt

#ifndef MXNET_OPERATOR_NEW_FORWARD_CUH_
#define MXNET_OPERATOR_NEW_FORWARD_CUH_

#include <mxnet/base.h>

namespace mxnet {
namespace op {

#define TILE_WIDTH 16

// Each block computes TILE_WIDTH x TILE_WIDTH outputs of one image and one output channel.
__global__ void forward_kernel(float* y, const float* x, const float* w, int M, int C, int H, int W, int K) {
  const int H_out = H - K + 1, W_out = W - K + 1;
  const int tiles_across = (W_out + TILE_WIDTH - 1) / TILE_WIDTH;
  const int b = blockIdx.x, m = blockIdx.y;
  const int h = blockIdx.z / tiles_across * TILE_WIDTH + threadIdx.y;
  const int v = blockIdx.z % tiles_across * TILE_WIDTH + threadIdx.x;
  if (h >= H_out || v >= W_out) return;

  float sum = 0;
  for (int c = 0; c < C; ++c) {
    for (int p = 0; p < K; ++p) {
      for (int q = 0; q < K; ++q) {
        sum += x[((b * C + c) * H + h + p) * W + v + q] * w[((m * C + c) * K + p) * K + q];
      }
    }
  }
  y[((b * M + m) * H_out + h) * W_out + v] = sum;
}

template <typename gpu, typename DType>
void forward(mshadow::Tensor<gpu, 4, DType>& y, const mshadow::Tensor<gpu, 4, DType>& x,
             const mshadow::Tensor<gpu, 4, DType>& w) {
  const int B = x.shape_[0], M = y.shape_[1], C = x.shape_[1], H = x.shape_[2], W = x.shape_[3], K = w.shape_[3];
  const int H_out = H - K + 1, W_out = W - K + 1;
  const int tiles = ((H_out + TILE_WIDTH - 1) / TILE_WIDTH) * ((W_out + TILE_WIDTH - 1) / TILE_WIDTH);

  const dim3 grid(B, M, tiles), block(TILE_WIDTH, TILE_WIDTH);
  forward_kernel<<<grid, block>>>(y.dptr_, x.dptr_, w.dptr_, M, C, H, W, K);
  MSHADOW_CUDA_CALL(cudaGetLastError());
  MSHADOW_CUDA_CALL(cudaDeviceSynchronize());
}

}  // namespace op
}  // namespace mxnet

#endif
