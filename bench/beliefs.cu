// Changes that reports on such kernels list as optimizations, each a switch on the basic kernel with one thread per
// output. The machine code shows which ones the compiler does anyway, and the times show what each one gains:
//
//   convlab ablate bench/beliefs.cu

#ifdef WITH_CONSTANT  // filters in constant memory, if they fit into its 64 KiB
constexpr bool kConstant = true;
#else
constexpr bool kConstant = false;
#endif

#ifdef WITH_RESTRICT  // const and __restrict__: arrays do not overlap
#define RESTRICT __restrict__
#else
#define RESTRICT
#endif

#ifdef WITH_NO_MODULO  // the grid tells image and map: no % and one division by a number of the launch, not six
constexpr bool kModulo = false;
#else
constexpr bool kModulo = true;
#endif

#ifdef WITH_PRAGMA_UNROLL  // #pragma unroll before loops whose length only the launch tells
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

#ifdef WITH_PRE_INCREMENT  // ++i in place of i++
#define NEXT(i) ++i
#else
#define NEXT(i) i++
#endif

constexpr int kThreads = 128;
constexpr int kMostBlocksInZ = 65535;
constexpr int kConstants = 64 * 1024 / sizeof(float);
__constant__ float constants[kConstants];

/// `kFit`: whether the weights are in constant memory.
template <bool kFit>
__device__ float output(const float* RESTRICT x, const float* RESTRICT w, int n, int k, int p, int q, int C, int H,
                        int W, int R, int S) {
  float sum = 0;
  for (int c = 0; c < C; NEXT(c)) {
    UNROLL
    for (int r = 0; r < R; NEXT(r)) {
      UNROLL
      for (int s = 0; s < S; NEXT(s)) {
        const int weight = ((k * C + c) * R + r) * S + s;
        sum += x[((n * C + c) * H + p + r) * W + q + s] * (kFit ? constants[weight] : w[weight]);
      }
    }
  }
  return sum;
}

template <bool kFit>
__global__ void convolve_kernel(const float* RESTRICT x, const float* RESTRICT w, float* RESTRICT y, int N, int C,
                                int H, int W, int K, int R, int S) {
  const int P = H - R + 1, Q = W - S + 1;
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (kModulo) {
    if (i >= N * K * P * Q) return;
    const int q = i % Q, p = i / Q % P, k = i / Q / P % K, n = i / Q / P / K;
    y[i] = output<kFit>(x, w, n, k, p, q, C, H, W, R, S);
  } else {
    if (i >= P * Q) return;
    const int p = i / Q, q = i - p * Q, k = blockIdx.y;
    for (int n = blockIdx.z; n < N; n += gridDim.z) {
      y[(n * K + k) * P * Q + i] = output<kFit>(x, w, n, k, p, q, C, H, W, R, S);
    }
  }
}

template <bool kFit>
void launch(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) {
  const int outputs = (kModulo ? N * K : 1) * (H - R + 1) * (W - S + 1);
  const int blocks = (outputs + kThreads - 1) / kThreads;
  const dim3 grid = kModulo ? dim3(blocks) : dim3(blocks, K, N < kMostBlocksInZ ? N : kMostBlocksInZ);
  convolve_kernel<kFit><<<grid, kThreads>>>(x, w, y, N, C, H, W, K, R, S);
}

void convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) {
  const int weights = K * C * R * S;
  if (!kConstant || weights > kConstants) return launch<false>(x, w, y, N, C, H, W, K, R, S);
  cudaMemcpyToSymbol(constants, w, weights * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  launch<true>(x, w, y, N, C, H, W, K, R, S);
}
