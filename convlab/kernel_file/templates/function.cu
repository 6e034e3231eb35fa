// A plain function: convlab passes arrays in GPU memory, or in host memory if the file has no CUDA kernels.
// N images of C channels, H x W; K filters of R x S; no padding, stride 1. Parameters are matched by name: omit those
// you do not need, or use the course's names B, M, C, H, W and K, where a filter is K x K; `stride` may follow.
//
//   convlab verify FILE                              on a GPU, or with --device simt on any machine
//   convlab bench FILE --against cuda.shared_tile    which of the two is faster

__global__ void convolve_kernel(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R,
                                int S) {
  const int P = H - R + 1, Q = W - S + 1;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * K * P * Q) return;
  const int q = i % Q, p = i / Q % P, k = i / Q / P % K, n = i / Q / P / K;

  float sum = 0;
  for (int c = 0; c < C; ++c) {
    for (int r = 0; r < R; ++r) {
      for (int s = 0; s < S; ++s) {
        sum += x[((n * C + c) * H + p + r) * W + q + s] * w[((k * C + c) * R + r) * S + s];
      }
    }
  }
  y[i] = sum;
}

void convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) {
  const int outputs = N * K * (H - R + 1) * (W - S + 1), threads = 128;
  convolve_kernel<<<(outputs + threads - 1) / threads, threads>>>(x, w, y, N, C, H, W, K, R, S);
}
