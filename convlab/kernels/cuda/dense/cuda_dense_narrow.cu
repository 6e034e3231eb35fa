// cuda.dense_narrow: act(alpha * A * B' + beta * C) for few columns, such as a network's last layer.
//
// A warp computes four rows; each lane takes every 32nd K element of all columns. B is in shared memory, column by
// column. The sums of 32 lanes are added by recursive halving: in each step, a lane exchanges half of its columns for
// another lane's sums of the other half, so that 16 columns take 16 shuffles, and lanes 2 c and 2 c + 1 end with column
// c. Per row: 2 K N flops, 4 (K + N) bytes. Not supported: more than 16 columns, weights beyond shared memory, and
// transposed A. Limited by latency: it takes little longer than its launch, so blocks start, and fetch constant
// weights, while the previous kernel still runs.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/ops/activation.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kColumns = 16;
constexpr int kRows = 4;  // rows of a warp at once
constexpr int kThreads = 256;
constexpr int kMostTerms = 48 * 1024 / (kColumns * 4);

struct NarrowShape {
  int64_t rows;
  int terms, columns;
  int b_term_stride, b_column_stride;
  float alpha, beta;
  int64_t c_row_stride;
  int c_column_stride;
  Activation activation;
  bool constant_weights;  ///< no kernel writes them
};

/// Keeps half of a lane's 2 * kHalf sums, and adds the other lane's sums of that half.
template <int kHalf>
__device__ __forceinline__ void exchange(float (&sum)[kColumns], int lane) {
  if constexpr (kHalf > 0) {
    const bool upper = (lane & (2 * kHalf)) != 0;
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      const float kept = upper ? sum[i + kHalf] : sum[i], given = upper ? sum[i] : sum[i + kHalf];
      sum[i] = kept + __shfl_xor_sync(0xffffffff, given, 2 * kHalf);
    }
    exchange<kHalf / 2>(sum, lane);
  }
}

__global__ void __launch_bounds__(kThreads)
    multiply(const float* a, const float* b, const float* c, float* y, NarrowShape shape) {
  float* weights = dynamic_shared<float>();
  if (!shape.constant_weights) wait_for_launch_before();
  for (int i = threadIdx.x; i < kColumns * shape.terms; i += kThreads) {
    const int column = i / shape.terms, term = i % shape.terms;
    weights[i] = column < shape.columns ? b[term * shape.b_term_stride + column * shape.b_column_stride] : 0;
  }
  wait_for_launch_before();
  __syncthreads();
  const int lane = threadIdx.x % 32, warps = gridDim.x * (kThreads / 32);
  for (int64_t first = (blockIdx.x * (kThreads / 32) + threadIdx.x / 32) * int64_t{kRows}; first < shape.rows;
       first += int64_t{warps} * kRows) {
    const int rows = static_cast<int>(min(static_cast<int64_t>(kRows), shape.rows - first));
    float sum[kRows][kColumns] = {};
#pragma unroll 4
    for (int term = lane; term < shape.terms; term += 32) {
      float value[kRows];
#pragma unroll
      for (int row = 0; row < kRows; ++row) value[row] = row < rows ? a[(first + row) * shape.terms + term] : 0;
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        const float weight = weights[column * shape.terms + term];
#pragma unroll
        for (int row = 0; row < kRows; ++row) sum[row][column] += value[row] * weight;
      }
    }
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      exchange<kColumns / 2>(sum[row], lane);
      const float total = sum[row][0] + __shfl_xor_sync(0xffffffff, sum[row][0], 1);
      const int column = lane / 2;
      if (lane % 2 != 0 || column >= shape.columns || row >= rows) continue;
      float value = shape.alpha * total;
      if (c != nullptr) {
        value += shape.beta * c[(first + row) * shape.c_row_stride + column * shape.c_column_stride];
      }
      y[(first + row) * shape.columns + column] = activated(shape.activation, value);
    }
  }
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  const auto* gemm = std::get_if<GemmOp>(&step.op);
  if (gemm == nullptr) return "only dense layers (Gemm) are supported";
  if (gemm->transpose_a) return "transposed A is not supported";
  if (step.outputs[0].shape[1] > kColumns) return fmt::format("at most {} output columns are supported", kColumns);
  if (step.inputs[0].shape[1] > kMostTerms) return fmt::format("K must be at most {}", kMostTerms);
  return std::nullopt;
}

void launch_narrow(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const auto& op = std::get<GemmOp>(step.op);
  if (element_count(step.outputs[0].shape) == 0) return;
  NarrowShape shape{.rows = step.outputs[0].shape[0],
                    .terms = static_cast<int>(step.inputs[0].shape[1]),
                    .columns = static_cast<int>(step.outputs[0].shape[1]),
                    .alpha = op.alpha,
                    .beta = op.beta,
                    .activation = step.epilogue.activation,
                    .constant_weights = step.inputs[1].constant};
  shape.b_term_stride = op.transpose_b ? 1 : shape.columns;
  shape.b_column_stride = op.transpose_b ? shape.terms : 1;
  const float* addend = nullptr;
  if (args.inputs.size() > 2) {  // a scalar, a row, a column or a whole matrix
    const Shape& c = step.inputs[2].shape;
    addend = args.input(2);
    shape.c_row_stride = c.size() < 2 || c[0] == 1 ? 0 : c[1];
    shape.c_column_stride = c.empty() || c.back() == 1 ? 0 : 1;
  }
  constexpr int64_t kMostBlocks = 1024;
  const int64_t blocks = std::min(ceil_div(shape.rows, kRows * (kThreads / 32)), kMostBlocks);
  launch(multiply,
         {.grid = blocks,
          .block = kThreads,
          .shared_bytes = static_cast<size_t>(kColumns * shape.terms) * sizeof(float),
          .early = true},
         stream.native(), args.input(0), args.input(1), addend, args.output(), shape);
}

const RegisterKernel registered{{
    .info = {.name = "cuda.dense_narrow",
             .device = kCompiledFor,
             .family = Family::dense,
             .idea = "dense layer with few columns: a warp computes four rows, and its lanes divide the K dimension"},
    .refuses = refuses,
    .launch = launch_narrow,
    .fuses_activation = true,
}};

}  // namespace
}  // namespace convlab
