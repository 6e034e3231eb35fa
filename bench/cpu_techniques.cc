// Three optimizations of a CPU convolution, each a switch for `convlab ablate` (see its --help).

#ifdef WITH_ROWS  // the innermost loop goes along the row, where processors have vectors, not along the filter
constexpr bool kRows = true;
#else
constexpr bool kRows = false;
#endif

#ifdef WITH_RESTRICT  // __restrict__: arrays do not overlap
#define RESTRICT __restrict__
#else
#define RESTRICT
#endif

#ifdef WITH_THREADS  // images and maps over the processor's threads
constexpr bool kThreads = true;
#else
constexpr bool kThreads = false;
#endif

namespace {

void convolve_map(const float* RESTRICT x, const float* RESTRICT w, float* RESTRICT y, int C, int H, int W, int R,
                  int S) {
  const int P = H - R + 1, Q = W - S + 1;
  for (int p = 0; p < P; ++p) {
    float* RESTRICT row = y + p * Q;
    if (kRows) {
      for (int q = 0; q < Q; ++q) row[q] = 0;
      for (int c = 0; c < C; ++c) {
        for (int r = 0; r < R; ++r) {
          for (int s = 0; s < S; ++s) {
            for (int q = 0; q < Q; ++q) row[q] += x[(c * H + p + r) * W + q + s] * w[(c * R + r) * S + s];
          }
        }
      }
    } else {
      for (int q = 0; q < Q; ++q) {
        float sum = 0;
        for (int c = 0; c < C; ++c) {
          for (int r = 0; r < R; ++r) {
            for (int s = 0; s < S; ++s) sum += x[(c * H + p + r) * W + q + s] * w[(c * R + r) * S + s];
          }
        }
        row[q] = sum;
      }
    }
  }
}

}  // namespace

void convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) {
  const long maps = static_cast<long>(N) * K, pixels = static_cast<long>(H - R + 1) * (W - S + 1);
#pragma omp parallel for if (kThreads)
  for (long i = 0; i < maps; ++i) {
    convolve_map(x + i / K * C * H * W, w + i % K * C * R * S, y + i * pixels, C, H, W, R, S);
  }
}
