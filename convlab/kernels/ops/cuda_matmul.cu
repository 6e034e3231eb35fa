// cuda.matmul: computes NumPy's matmul with broadcast leading dimensions. One thread per output: it is a fallback,
// since the lab's networks multiply by constants (cuda.dense).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/ops/strided.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 65536;

__global__ void __launch_bounds__(kThreads)
    multiply_batched(const float* a, const float* b, float* y, int64_t count, int64_t rows, int64_t columns,
                     int64_t terms, Strided batches_of_a, Strided batches_of_b) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (int64_t i = first; i < count; i += static_cast<int64_t>(gridDim.x) * kThreads) {
    const int64_t column = i % columns, row = i / columns % rows, batch = i / columns / rows;
    const float* left = a + strided_offset(batches_of_a, batch) * rows * terms + row * terms;
    const float* right = b + strided_offset(batches_of_b, batch) * terms * columns + column;
    float sum = 0;
    for (int64_t term = 0; term < terms; ++term) sum += left[term] * right[term * columns];
    y[i] = sum;
  }
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<MatMulOp>(step.op)) return "only MatMul is supported";
  if (step.outputs[0].shape.size() > kMostDimensions) return "at most 8 dimensions are supported";
  return std::nullopt;
}

/// Returns the dimensions before a matrix's own two; a vector has none.
Shape batch_shape(const Shape& shape) { return shape.size() <= 2 ? Shape{} : Shape(shape.begin(), shape.end() - 2); }

void launch_matmul(const Args& args, Stream& stream) {
  const Shape &a = args.step.inputs[0].shape, &b = args.step.inputs[1].shape;
  const int64_t count = element_count(args.step.outputs[0].shape);
  if (count == 0) return;
  const int64_t terms = a.back();
  const int64_t rows = a.size() == 1 ? 1 : a[a.size() - 2], columns = b.size() == 1 ? 1 : b.back();
  Shape batches = args.step.outputs[0].shape;
  batches.resize(batches.size() - (a.size() > 1) - (b.size() > 1));
  const dim3 grid(std::min(ceil_div(count, kThreads), kMostBlocks));
  launch(multiply_batched, {.grid = grid, .block = kThreads}, stream.native(), args.input(0), args.input(1),
         args.output(), count, rows, columns, terms, broadcast_strides(batch_shape(a), batches),
         broadcast_strides(batch_shape(b), batches));
}

const RegisterKernel registered{{
    .info = {.name = "cuda.matmul",
             .device = kCompiledFor,
             .family = Family::dense,
             .idea = "batched matrix products: one thread per output element, without tiling"},
    .refuses = refuses,
    .launch = launch_matmul,
}};

}  // namespace
}  // namespace convlab
