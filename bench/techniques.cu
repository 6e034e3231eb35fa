// Optimizations that GPU courses teach, each a switch on the basic kernel. Any subset of switches may be on, and the
// result is right. To see what each one gains, alone and in addition to the others:
//
//   convlab ablate bench/techniques.cu               on a GPU by time; with --device simt by counts
//
// A block of 16 x 16 threads computes a square of outputs for one or several output channels. blockIdx.x is the square,
// y the output channels, z the image.

#ifndef WITH_TILE  // the pixels under a block's outputs are staged in shared memory, channel by channel
#define WITH_TILE 0
#endif
#ifndef WITH_CONSTANT  // filters come from constant memory, if they fit into its 64 KiB
#define WITH_CONSTANT 0
#endif
#ifndef WITH_UNROLL  // loops over the filter are unrolled for sizes that the compiler knows, 5 and 3
#define WITH_UNROLL 0
#endif
#ifndef WITH_RESTRICT  // const and __restrict__: arrays do not overlap
#define WITH_RESTRICT 0
#endif
#ifndef WITH_MAPS  // each thread makes four maps, so that it loads a pixel once for all of them
#define WITH_MAPS 0
#endif

#if WITH_RESTRICT
#define RESTRICT __restrict__
#else
#define RESTRICT
#endif

constexpr int kTile = 16;
constexpr int kMaps = WITH_MAPS ? 4 : 1;  // output channels per thread
constexpr int kMostBlocksInZ = 65535;
constexpr int kConstants = 64 * 1024 / sizeof(float);
__constant__ float constants[kConstants];

/// `kSide`: the filter's side, or 0 if only known at run time. `kFit`: whether the weights are in constant memory.
template <int kSide, bool kFit>
__global__ void convolve_kernel(const float* RESTRICT x, const float* RESTRICT w, float* RESTRICT y, int N, int C,
                                int H, int W, int K, int R, int S) {
  const int rows = kSide > 0 ? kSide : R, columns = kSide > 0 ? kSide : S;
  const int P = H - rows + 1, Q = W - columns + 1;
  const int across = (Q + kTile - 1) / kTile;
  const int top = blockIdx.x / across * kTile, left = blockIdx.x % across * kTile;
  const int p = top + threadIdx.y, q = left + threadIdx.x;
  const bool has_output = p < P && q < Q;
  const int first_map = blockIdx.y * kMaps;
  extern __shared__ float tile[];  // [kTile + rows - 1][kTile + columns - 1], with WITH_TILE
  const int tile_columns = kTile + columns - 1;

  for (int n = blockIdx.z; n < N; n += gridDim.z) {
    float sums[kMaps] = {};
    for (int c = 0; c < C; ++c) {
      const float* plane = x + (static_cast<size_t>(n) * C + c) * H * W;
      if (WITH_TILE) {
        __syncthreads();  // all threads have read the previous channel
        for (int i = threadIdx.y; i < kTile + rows - 1 && top + i < H; i += kTile) {
          for (int j = threadIdx.x; j < tile_columns && left + j < W; j += kTile) {
            tile[i * tile_columns + j] = plane[(top + i) * W + left + j];
          }
        }
        __syncthreads();
      }
      if (!has_output) continue;
      const float* window = WITH_TILE ? tile + threadIdx.y * tile_columns + threadIdx.x : plane + p * W + q;
      const int stride = WITH_TILE ? tile_columns : W;
      for (int r = 0; r < rows; ++r) {
        for (int s = 0; s < columns; ++s) {
          const float pixel = window[r * stride + s];
          for (int m = 0; m < kMaps; ++m) {
            const int map = min(first_map + m, K - 1);
            const int weight = ((map * C + c) * rows + r) * columns + s;
            sums[m] += pixel * (kFit ? constants[weight] : w[weight]);
          }
        }
      }
    }
    for (int m = 0; m < kMaps && first_map + m < K && has_output; ++m) {
      y[((static_cast<size_t>(n) * K + first_map + m) * P + p) * Q + q] = sums[m];
    }
  }
}

template <int kSide, bool kFit>
void launch(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) {
  const int P = H - R + 1, Q = W - S + 1;
  const dim3 grid((P + kTile - 1) / kTile * ((Q + kTile - 1) / kTile), (K + kMaps - 1) / kMaps,
                  N < kMostBlocksInZ ? N : kMostBlocksInZ);
  const size_t bytes = WITH_TILE ? (kTile + R - 1) * (kTile + S - 1) * sizeof(float) : 0;
  convolve_kernel<kSide, kFit><<<grid, dim3(kTile, kTile), bytes>>>(x, w, y, N, C, H, W, K, R, S);
}

template <bool kFit>
void launch_unrolled(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) {
  if (WITH_UNROLL && R == 5 && S == 5) return launch<5, kFit>(x, w, y, N, C, H, W, K, R, S);
  if (WITH_UNROLL && R == 3 && S == 3) return launch<3, kFit>(x, w, y, N, C, H, W, K, R, S);
  launch<0, kFit>(x, w, y, N, C, H, W, K, R, S);
}

void convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) {
  const int weights = K * C * R * S;
  if (!WITH_CONSTANT || weights > kConstants) return launch_unrolled<false>(x, w, y, N, C, H, W, K, R, S);
  cudaMemcpyToSymbol(constants, w, weights * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  launch_unrolled<true>(x, w, y, N, C, H, W, K, R, S);
}
