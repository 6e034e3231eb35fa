// cuda.nhwc_dense: fp16 dense layer of one to four rows. Weights are fp16; rows and sums are fp32. A block computes 4
// columns of all rows; its threads divide K, 8 elements at a time. Weights are read once, which takes all of the time.
//
// Not supported: more rows, few columns, weights that are not constant, addends that are not row vectors, and
// transposed A.
//
// Limited by memory.

#include "convlab/device/early_launch.cuh"
#include "convlab/device/pipeline.cuh"
#include "convlab/kernels/cuda/nhwc/dense_halves.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_end.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kColumns = 4;  // per block
constexpr int kChunk = 8;    // K elements that a thread loads at once
constexpr int64_t kMostRows = 4;
constexpr int kAhead = 1;  // rounds whose weights are prefetched to L2 while previous kernels run

struct DenseShape {
  int terms, columns;
  int64_t column_step;  ///< weights from one column to the next
  Activation activation;
};

/// x: [kRows][K]; y: [kRows][column]; w: [column][K].
template <int kRows>
__global__ void __launch_bounds__(kThreads)
    multiply_rows(const float* __restrict__ x, const __half* __restrict__ w, const float* __restrict__ bias,
                  float* __restrict__ y, const DenseShape shape, const PrefetchHint prefetch) {
  __shared__ float sums[kWarps][kRows][kColumns];
  const int first = blockIdx.x * kColumns, lane = threadIdx.x % 32;
  constexpr int kLine = 128, kLanesOfLine = kLine / (kChunk * static_cast<int>(sizeof(__half)));
  const auto weights_of = [&](int column) { return w + min(first + column, shape.columns - 1) * shape.column_step; };
  if (lane % kLanesOfLine == 0) {
#pragma unroll
    for (int round = 0; round < kAhead; ++round) {
      const int term = (round * kThreads + threadIdx.x) * kChunk;
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        if (term < shape.terms) prefetch_line(weights_of(column) + term);
      }
    }
  }
  begin_in_turn();
  float sum[kRows][kColumns] = {};
#pragma unroll 2
  for (int term = threadIdx.x * kChunk; term < shape.terms; term += kThreads * kChunk) {
    float weights[kColumns][kChunk];
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
      load_eight(weights_of(column) + term, weights[column]);
    }
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      float given[kChunk];
      load_eight(x + static_cast<int64_t>(row) * shape.terms + term, given);
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
#pragma unroll
        for (int i = 0; i < kChunk; ++i) sum[row][column] = fmaf(given[i], weights[column][i], sum[row][column]);
      }
    }
  }
  // Keeps memory busy until the next layer's blocks have started.
  for (int64_t line = int64_t{blockIdx.x} * kThreads + threadIdx.x; line < prefetch.bytes / kLine;
       line += int64_t{gridDim.x} * kThreads) {
    prefetch_line(static_cast<const std::byte*>(prefetch.from) + line * kLine);
  }
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
      float& each = sum[row][column];
      for (int half = 16; half > 0; half /= 2) each += __shfl_xor_sync(0xffffffffu, each, half);
      if (lane == 0) sums[threadIdx.x / 32][row][column] = each;
    }
  }
  __syncthreads();
  const int row = threadIdx.x / kColumns, column = threadIdx.x % kColumns;
  if (row >= kRows || first + column >= shape.columns) return;
  float total = bias != nullptr ? bias[first + column] : 0;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) total += sums[warp][row][column];
  y[static_cast<int64_t>(row) * shape.columns + first + column] = activated(shape.activation, total);
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (const Refusal refusal = refuse_unless_wide_dense(step)) return refusal;
  if (step.outputs[0].shape[0] > kMostRows) return fmt::format("at most {} rows are supported", kMostRows);
  if (step.inputs[0].shape[1] % kChunk != 0) return fmt::format("K must be a multiple of {}", kChunk);
  return std::nullopt;
}

template <int kRows>
void launch_of(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const DenseShape shape{.terms = static_cast<int>(step.inputs[0].shape[1]),
                         .columns = static_cast<int>(step.outputs[0].shape[1]),
                         .column_step = dense_slices(step) * HalfTerms::kSlice,
                         .activation = step.epilogue.activation};
  launch(multiply_rows<kRows>, {.grid = ceil_div(shape.columns, kColumns), .block = kThreads, .early = true},
         stream.native(), args.input(0), static_cast<const __half*>(args.prepared),
         args.inputs.size() > 2 ? args.input(2) : nullptr, args.output(), shape, args.prefetch);
}

void launch_rows(const Args& args, Stream& stream) {
  switch (args.step.outputs[0].shape[0]) {
    case 1:
      return launch_of<1>(args, stream);
    case 2:
      return launch_of<2>(args, stream);
    case 3:
      return launch_of<3>(args, stream);
    default:
      return launch_of<4>(args, stream);
  }
}

const RegisterKernel registered{{
    .info = {.name = "cuda.nhwc_dense",
             .device = kCompiledFor,
             .family = Family::dense,
             .math = Math::fp16,
             .idea = "dense layer of one to four rows: every weight is read once, in fp16, and all threads of a block "
                     "divide K"},
    .refuses = refuses,
    .prepared_bytes = dense_weight_bytes,
    .prepare = pack_dense_weights,
    .launch = launch_rows,
    .packs_weights = true,
    .fuses_activation = true,
}};

}  // namespace
}  // namespace convlab
