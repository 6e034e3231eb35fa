// cuda.dense: act(alpha * A' * B' + beta * C), the dense layer and ONNX's Gemm. A block computes a 64x64 tile with 256
// threads, each a 4x4 register tile; slices of 16 of the K dimension are staged in shared memory. Transposes are
// strides, so one kernel supports all; C is broadcast by strides of 0.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/ops/activation.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kTile = 64;   // rows and columns of a block's tile
constexpr int kSlice = 16;  // K elements that are staged at a time
constexpr int kSide = 4;    // rows and columns of a thread's tile
constexpr int kThreads = (kTile / kSide) * (kTile / kSide);
constexpr int kPad = 4;  // keeps rows 16-byte aligned and staggers the banks

struct Matrix {
  const float* data;
  int64_t row_stride, column_stride;
};

struct DenseShape {
  int64_t rows, columns, terms;
  float alpha, beta;
  Activation activation;
};

__global__ void __launch_bounds__(kThreads) multiply(Matrix a, Matrix b, Matrix c, float* y, DenseShape shape) {
  __shared__ float tile_a[kSlice][kTile + kPad];
  __shared__ float tile_b[kSlice][kTile + kPad];
  const int64_t first_row = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.y) * kTile;
  const int thread_row = threadIdx.x / (kTile / kSide) * kSide, thread_column = threadIdx.x % (kTile / kSide) * kSide;

  float sum[kSide][kSide] = {};
  for (int64_t slice = 0; slice < shape.terms; slice += kSlice) {
    // Adjacent threads load adjacent K elements: contiguous in A, and in a B that is stored transposed.
    for (int i = threadIdx.x; i < kTile * kSlice; i += kThreads) {
      const int64_t term = slice + i % kSlice, row = first_row + i / kSlice, column = first_column + i / kSlice;
      const bool inside = term < shape.terms;
      tile_a[i % kSlice][i / kSlice] =
          inside && row < shape.rows ? a.data[row * a.row_stride + term * a.column_stride] : 0;
      tile_b[i % kSlice][i / kSlice] =
          inside && column < shape.columns ? b.data[term * b.row_stride + column * b.column_stride] : 0;
    }
    __syncthreads();
    const int staged = static_cast<int>(min(static_cast<int64_t>(kSlice), shape.terms - slice));
    for (int term = 0; term < staged; ++term) {
      float left[kSide], right[kSide];
      for (int i = 0; i < kSide; ++i) left[i] = tile_a[term][thread_row + i];
      for (int j = 0; j < kSide; ++j) right[j] = tile_b[term][thread_column + j];
      for (int i = 0; i < kSide; ++i) {
        for (int j = 0; j < kSide; ++j) sum[i][j] += left[i] * right[j];
      }
    }
    __syncthreads();
  }

  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      const int64_t row = first_row + thread_row + i, column = first_column + thread_column + j;
      if (row >= shape.rows || column >= shape.columns) continue;
      float value = shape.alpha * sum[i][j];
      if (c.data != nullptr) value += shape.beta * c.data[row * c.row_stride + column * c.column_stride];
      y[row * shape.columns + column] = activated(shape.activation, value);
    }
  }
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<GemmOp>(step.op)) return "only dense layers (Gemm) are supported";
  if (ceil_div(step.outputs[0].shape[1], kTile) > 65535) return "at most 4194240 output columns are supported";
  return std::nullopt;
}

Matrix matrix(const float* data, int64_t columns, bool transposed) {
  return transposed ? Matrix{data, 1, columns} : Matrix{data, columns, 1};
}

/// C is a scalar, a row, a column or a whole matrix.
Matrix broadcast(const Args& args) {
  if (args.inputs.size() < 3) return {nullptr, 0, 0};
  const Shape& shape = args.step.inputs[2].shape;
  const int64_t columns = shape.empty() ? 1 : shape.back();
  const int64_t rows = shape.size() < 2 ? 1 : shape[0];
  return {args.input(2), rows == 1 ? 0 : columns, columns == 1 ? 0 : 1};
}

void launch_dense(const Args& args, Stream& stream) {
  const auto& op = std::get<GemmOp>(args.step.op);
  const Shape &a = args.step.inputs[0].shape, &b = args.step.inputs[1].shape;
  const DenseShape shape{.rows = args.step.outputs[0].shape[0],
                         .columns = args.step.outputs[0].shape[1],
                         .terms = op.transpose_a ? a[0] : a[1],
                         .alpha = op.alpha,
                         .beta = op.beta,
                         .activation = args.step.epilogue.activation};
  if (element_count(args.step.outputs[0].shape) == 0) return;
  const dim3 grid(ceil_div(shape.rows, kTile), ceil_div(shape.columns, kTile));
  launch(multiply, {.grid = grid, .block = kThreads}, stream.native(), matrix(args.input(0), a[1], op.transpose_a),
         matrix(args.input(1), b[1], op.transpose_b), broadcast(args), args.output(), shape);
}

const RegisterKernel registered{{
    .info = {.name = "cuda.dense",
             .device = kCompiledFor,
             .family = Family::dense,
             .idea = "dense layer with shared-memory tiles of 64x64 and a 4x4 register tile per thread"},
    .refuses = refuses,
    .launch = launch_dense,
    .fuses_activation = true,
}};

}  // namespace
}  // namespace convlab
