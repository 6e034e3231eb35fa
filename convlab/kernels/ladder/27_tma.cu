// Copies the next channel's rows by TMA and waits for them on an mbarrier (rung 27).
//
// TMA (tensor memory accelerator) copies in bulk: one thread issues addresses and a byte count, and
// continues. No thread loads, and no register holds a pixel on its way to shared memory.
//
// An mbarrier, a word in shared memory that counts in phases, signals that all data has arrived:
//
//    thread 0      arrives, announcing the byte count       a phase ends when all arrivals have come (here one)
//                  issues the copy, naming the barrier      and all announced bytes
//    all threads   wait for the phase of parity 0, 1, 0, 1, ...
//
// A bulk copy moves aligned units of 16 bytes. Rows of 33 or 70 floats are not multiples of 16 bytes, so we cannot copy
// only the columns of a tile. Nor can TMA fill in zeros beyond the edges: its tensor maps also need rows of whole
// units. But adjacent rows are contiguous: a band of rows is one range of floats, which we round outwards,
//
//    x        |0 1 2 3|4 5 6 7|8 9 10 11|12 13 14 15|...
//    band              5 6 7 8 9 10
//    copied           |4 5 6 7|8 9 10 11|                 the band starts 1 float after the start of the copy
//
// and each thread sums only the taps inside the image. At the ends of x there is nothing to round to: there thread 0
// copies the remaining floats itself.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/pipeline.cuh"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.tma",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 27,
    .idea = "one thread copies the next channel's rows by TMA, and an mbarrier counts the bytes",
    .after = "cuda.cp_async",
    .threads =
        "A block computes a band of whole output rows of one output channel, one output per thread, up to 512. Two "
        "buffers hold the input rows of the band for one channel each; the filter of the output channel is staged "
        "once.",
    .cost =
        "2 * C * R * S flops; about (1 + (R - 1) / rows) pixels per channel from global memory, by one instruction of "
        "one thread for the whole band.",
    .refuses =
        "Fused epilogues, uint8 input, rows of more than 512 outputs, bands that exceed shared memory, and compute "
        "capability below 9.0.",
    .limit = "Shared memory: two loads per multiply-add. With one input channel there is no copy to overlap.",
};

constexpr int kMostThreads = 512;
constexpr int kUnit = 4;  // floats in 16 bytes
constexpr int64_t kMostBlocksInZ = 65535;

/// How an image is partitioned into bands of output rows.
struct Band {
  int rows;     // output rows per block
  int floats;   // per buffer, a multiple of 4 (16 bytes)
  int weights;  // per filter of an output channel
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// The taps of a window that are inside the image: first <= tap < end.
struct Taps {
  int first, end;
};

/// Returns the taps inside the image. `begin` is the row or column under the first tap, `size` the number of rows or
/// columns.
__device__ Taps taps_inside(int begin, int size, int taps, int dilation) {
  return {begin < 0 ? (-begin + dilation - 1) / dilation : 0,
          begin < size ? min(taps, (size - begin + dilation - 1) / dilation) : 0};
}

/// Starts to copy floats [first, first + count) of `aligned` to `to`. `to` receives the 16-byte unit that contains
/// `first`. Only floats [begin, end) of the 16-byte aligned array exist. One thread calls it; the barrier's phase ends
/// when all have arrived.
__device__ void begin_copying(float* to, const float* aligned, int64_t begin, int64_t end, int64_t first, int count,
                              uint64_t* barrier) {
  const int64_t last = first + count, origin = first / kUnit * kUnit;
  const int64_t from = max(origin, (begin + kUnit - 1) / kUnit * kUnit);
  const int64_t until = min((last + kUnit - 1) / kUnit, end / kUnit) * kUnit;
  for (int64_t i = first; i < min(from, last); ++i) to[i - origin] = aligned[i];
  for (int64_t i = max(until, first); i < last; ++i) to[i - origin] = aligned[i];
  const uint32_t bytes = count > 0 && from < until ? (until - from) * sizeof(float) : 0;
  barrier_arrive_expecting(barrier, bytes);
  if (bytes > 0) fetch_bulk(to_shared(to + (from - origin)), aligned + from, bytes, barrier);
}

#endif

__global__ void __launch_bounds__(kMostThreads)
    convolve_tma(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, const ConvShape shape,
                 const Band band) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  __shared__ uint64_t arrived[2];             // one barrier per buffer
  float* buffers = dynamic_shared<float>();   // [2][band.floats]
  float* filter = buffers + 2 * band.floats;  // [channels][r][s]
  const int thread = threadIdx.x, k = blockIdx.y, first_p = blockIdx.x * band.rows;
  const int rows = min(band.rows, shape.p - first_p), p = first_p + thread / shape.q, q = thread % shape.q;

  // This thread's window, and the image rows under the whole band (none if the band covers only padding).
  const int above = p * shape.stride_h - shape.pad_top, left = q * shape.stride_w - shape.pad_left;
  const Taps down = taps_inside(above, shape.h, thread < rows * shape.q ? shape.r : 0, shape.dilation_h);
  const Taps along = taps_inside(left, shape.w, shape.s, shape.dilation_w);
  const int top = max(first_p * shape.stride_h - shape.pad_top, 0);
  const int reach = (rows - 1) * shape.stride_h + (shape.r - 1) * shape.dilation_h + 1;
  const int bottom = min(first_p * shape.stride_h - shape.pad_top + reach, shape.h);
  const int count = max(bottom - top, 0) * shape.w;

  // x relative to a 16-byte boundary: x itself need not be aligned.
  const int skew = reinterpret_cast<uintptr_t>(x) / sizeof(float) % kUnit;
  const float* aligned = x - skew;
  const int64_t end = skew + int64_t{shape.n} * shape.c * shape.h * shape.w;
  const auto first_float = [&](int64_t n, int c) {
    return skew + ((n * shape.c + k / shape.maps * shape.channels + c) * shape.h + top) * shape.w;
  };
  const auto begin_copying_of = [&](int64_t n, int c, int copy) {
    begin_copying(buffers + copy % 2 * band.floats, aligned, skew, end, first_float(n, c), count, arrived + copy % 2);
  };

  if (thread == 0) {
    barrier_init(arrived, 1);
    barrier_init(arrived + 1, 1);
    fence_for_async();  // makes the initialized barriers visible to TMA
  }
  for (int i = thread; i < band.weights; i += blockDim.x) filter[i] = w[k * band.weights + i];
  __syncthreads();

  // Copies are numbered. They alternate between the two buffers, and each buffer's phases have parity 0, 1, 0, ...
  int copy = 0;
  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    float sum = 0;
    if (thread == 0) begin_copying_of(n, 0, copy);
    for (int c = 0; c < shape.channels; ++c, ++copy) {
      if (thread == 0 && c + 1 < shape.channels) begin_copying_of(n, c + 1, copy + 1);
      barrier_wait(arrived + copy % 2, copy / 2 % 2);
      const float* tile = buffers + copy % 2 * band.floats;
      const int window = first_float(n, c) % kUnit + (above - top) * shape.w + left;
      for (int r = down.first; r < down.end; ++r) {
        const int row = window + r * shape.dilation_h * shape.w;
        for (int s = along.first; s < along.end; ++s) {
          sum += tile[row + s * shape.dilation_w] * filter[(c * shape.r + r) * shape.s + s];
        }
      }
      __syncthreads();  // no thread still reads the buffer
    }
    if (thread < rows * shape.q) y[((n * shape.k + k) * shape.p + first_p) * shape.q + thread] = sum;
  }
#endif
}

/// Partitions the output rows. `rows` is 0 if a row has more outputs than a block has threads.
Band make_band(const ConvProblem& problem) {
  const int64_t most = kMostThreads / problem.q();
  if (most == 0) return {};
  const int64_t rows = ceil_div(problem.p(), ceil_div(problem.p(), most));
  const int64_t reach = (rows - 1) * problem.stride_h + (problem.r - 1) * problem.dilation_h + 1;
  const int64_t floats = round_up(std::min(reach, problem.h) * problem.w + 2 * (kUnit - 1), kUnit);
  return {static_cast<int>(rows), static_cast<int>(floats), static_cast<int>(problem.terms())};
}

size_t shared_bytes(const Band& band) {
  return (2 * static_cast<size_t>(band.floats) + static_cast<size_t>(band.weights)) * sizeof(float);
}

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  if (caps.compute_capability < 90) return "compute capability 9.0 or later is required for TMA";
  const Band band = make_band(step.problem);
  if (band.rows == 0) return fmt::format("output width must be at most {}", kMostThreads);
  constexpr size_t kBarriers = 128;  // shared memory of the barriers in bytes, at most
  if (shared_bytes(band) + kBarriers > caps.shared_bytes_per_block) {
    return "two bands of rows and a filter do not fit in the shared memory of a block";
  }
  return std::nullopt;
}

void launch_tma(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const Band band = make_band(problem);
  const dim3 grid(ceil_div(problem.p(), band.rows), problem.k, std::min(problem.n, kMostBlocksInZ));
  const dim3 block(round_up(band.rows * problem.q(), 32));
  launch(convolve_tma, {.grid = grid, .block = block, .shared_bytes = shared_bytes(band)}, stream.native(),
         static_cast<const float*>(args.x), args.w, args.y, kernel_shape(problem), band);
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_tma>,
}};

}  // namespace
}  // namespace convlab
