// A tiled convolution with a mistake that a GPU may hide: threads read the tile while others still write it.
//
//   convlab verify examples/kernels/missing_barrier.cu

#define TILE 16

__global__ void conv_tiled(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) {
  __shared__ float tile[TILE][TILE];
  const int P = H - R + 1, Q = W - S + 1;
  const int q = blockIdx.x * TILE + threadIdx.x, p = blockIdx.y * TILE + threadIdx.y;
  const int k = blockIdx.z % K, n = blockIdx.z / K;
  float sum = 0;
  for (int c = 0; c < C; ++c) {
    const float* image = x + (n * C + c) * H * W;
    tile[threadIdx.y][threadIdx.x] = p < H && q < W ? image[p * W + q] : 0;
    for (int r = 0; r < R; ++r) {
      for (int s = 0; s < S; ++s) {
        const int i = threadIdx.y + r, j = threadIdx.x + s;
        if (p >= P || q >= Q) continue;
        const bool in_tile = i < TILE && j < TILE;
        const float pixel = in_tile ? tile[i][j] : image[(p + r) * W + q + s];
        sum += pixel * w[((k * C + c) * R + r) * S + s];
      }
    }
  }
  if (p < P && q < Q) y[((n * K + k) * P + p) * Q + q] = sum;
}

void convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) {
  const dim3 grid((W + TILE - 1) / TILE, (H + TILE - 1) / TILE, N * K), block(TILE, TILE);
  conv_tiled<<<grid, block>>>(x, w, y, N, C, H, W, K, R, S);
}
