// cuda.dense_rows: a dense layer of one to four rows in fp16: weights are halves, rows and sums float32. A block makes 4 columns
// of all rows; its threads take 8 terms in turn. Weights are read once, which is all the time there is.
// Refuses more rows, few columns, weights that are not constant, addends that are no rows, transposed inputs.
// Limited by memory.

#include <fmt/core.h>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/op.h"
#include "convlab/kernels/ops/activation.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kColumns = 4;  // of a block
constexpr int kChunk = 8;    // terms that a thread loads at once
constexpr int64_t kMostRows = 4;
constexpr int64_t kLeastColumns = 512;  // fewer make too few blocks

struct DenseShape {
  int terms, columns;
  Activation activation;
};

union HalfChunk {
  uint4 bytes;
  __half2 pairs[kChunk / 2];
};

/// x: kRows rows of terms, y: of columns. w: [column][term].
template <int kRows>
__global__ void __launch_bounds__(kThreads)
    multiply_rows(const float* __restrict__ x, const __half* __restrict__ w, const float* __restrict__ bias,
                  float* __restrict__ y, const DenseShape shape) {
  __shared__ float sums[kWarps][kRows][kColumns];
  const int first = blockIdx.x * kColumns, lane = threadIdx.x % 32;
  float sum[kRows][kColumns] = {};
#pragma unroll 2
  for (int term = threadIdx.x * kChunk; term < shape.terms; term += kThreads * kChunk) {
    HalfChunk weights[kColumns];
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
      const int at = min(first + column, shape.columns - 1);
      weights[column].bytes = __ldg(reinterpret_cast<const uint4*>(w + static_cast<int64_t>(at) * shape.terms + term));
    }
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const float* from = x + static_cast<int64_t>(row) * shape.terms + term;
      float given[kChunk];
#pragma unroll
      for (int i = 0; i < kChunk; ++i) given[i] = from[i];
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
#pragma unroll
        for (int i = 0; i < kChunk / 2; ++i) {
          const float2 pair = __half22float2(weights[column].pairs[i]);
          sum[row][column] = fmaf(given[2 * i], pair.x, sum[row][column]);
          sum[row][column] = fmaf(given[2 * i + 1], pair.y, sum[row][column]);
        }
      }
    }
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

/// Weights as [column][term].
__global__ void __launch_bounds__(kThreads)
    pack_columns(const float* __restrict__ w, __half* __restrict__ packed, int64_t terms, int64_t count,
                 int64_t term_step, int64_t column_step) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) packed[i] = __float2half_rn(w[i % terms * term_step + i / terms * column_step]);
}

Refusal refuses(const OpStep& step) {
  const auto* gemm = std::get_if<GemmOp>(&step.op);
  if (gemm == nullptr) return "computes dense layers only";
  if (step.constant.size() < 2 || !step.constant[1]) return "takes weights that are constant";
  if (step.output[0] < 1 || step.output[0] > kMostRows) return fmt::format("takes 1 to {} rows", kMostRows);
  if (step.output[1] < kLeastColumns) return fmt::format("takes {} columns or more", kLeastColumns);
  if (step.inputs[0][1] == 0 || step.inputs[0][1] % kChunk != 0) return fmt::format("takes terms by {}", kChunk);
  if (gemm->transpose_a || gemm->alpha != 1) return "takes no transposed inputs, and no factor";
  if (step.input_layout != Layout::plain || step.output_layout != Layout::plain) return "takes and gives plain arrays";
  const bool row = step.inputs.size() < 3 || (gemm->beta == 1 && element_count(step.inputs[2]) == step.output[1] &&
                                              step.inputs[2].back() == step.output[1]);
  if (!row) return "adds a row, and nothing else";
  if (element_count(step.inputs[1]) > int64_t{1} << 30) return "takes at most 2^30 weights";
  return std::nullopt;
}

size_t prepared_bytes(const OpStep& step) {
  return static_cast<size_t>(checked_mul(element_count(step.inputs[1]), sizeof(__half)));
}

void prepare(const OpArgs& args, Stream& stream) {
  const bool transposed = std::get<GemmOp>(args.step.op).transpose_b;
  const int64_t columns = args.step.output[1], terms = args.step.inputs[0][1], count = columns * terms;
  launch(pack_columns, {.grid = ceil_div(count, kThreads), .block = kThreads}, stream.native(), args.inputs[1],
         static_cast<__half*>(args.prepared), terms, count, transposed ? int64_t{1} : columns,
         transposed ? terms : int64_t{1});
}

template <int kRows>
void launch_of(const OpArgs& args, Stream& stream) {
  const OpStep& step = args.step;
  const DenseShape shape{.terms = static_cast<int>(step.inputs[0][1]),
                         .columns = static_cast<int>(step.output[1]),
                         .activation = step.activation};
  launch(multiply_rows<kRows>, {.grid = ceil_div(shape.columns, kColumns), .block = kThreads}, stream.native(),
         args.inputs[0], static_cast<const __half*>(args.prepared), args.inputs.size() > 2 ? args.inputs[2] : nullptr,
         args.output, shape);
}

void launch_rows(const OpArgs& args, Stream& stream) {
  switch (args.step.output[0]) {
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

const RegisterOpKernel registered{{
    .info = {.name = "cuda.dense_rows", .device = kCompiledFor, .math = Math::fp16, .rank = 4},
    .refuses = refuses,
    .prepared_bytes = prepared_bytes,
    .prepare = prepare,
    .launch = launch_rows,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab
