// cuda.rearrange: Transpose and Concat, which move elements and compute nothing. One thread per element, grid-stride.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/ops/strided.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 65536;

__global__ void __launch_bounds__(kThreads) gather(const float* x, float* y, int64_t count, Strided of_x) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (int64_t i = first; i < count; i += static_cast<int64_t>(gridDim.x) * kThreads) {
    y[i] = x[strided_offset(of_x, i)];
  }
}

/// Copies rows of `length` elements to y, where they start every `pitch` elements.
__global__ void __launch_bounds__(kThreads)
    place_rows(const float* x, float* y, int64_t count, int64_t length, int64_t pitch) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (int64_t i = first; i < count; i += static_cast<int64_t>(gridDim.x) * kThreads) {
    y[i / length * pitch + i % length] = x[i];
  }
}

dim3 grid_for(int64_t count) { return dim3(std::min(ceil_div(count, kThreads), kMostBlocks)); }

void transpose(const TransposeOp& op, const Args& args, Stream& stream) {
  const Shape& x = args.step.inputs[0].shape;
  const int rank = static_cast<int>(x.size());
  int64_t strides[kMostDimensions];
  int64_t stride = 1;
  for (int dimension = rank - 1; dimension >= 0; --dimension) strides[dimension] = stride, stride *= x[dimension];
  Strided of_x{.rank = rank};
  for (int dimension = 0; dimension < rank; ++dimension) {
    of_x.size[dimension] = args.step.outputs[0].shape[dimension];
    of_x.stride[dimension] = strides[op.permutation.empty() ? rank - 1 - dimension : op.permutation[dimension]];
  }
  const int64_t count = element_count(x);
  if (count == 0) return;
  launch(gather, {.grid = grid_for(count), .block = kThreads}, stream.native(), args.input(0), args.output(), count,
         of_x);
}

void concat(const ConcatOp& op, const Args& args, Stream& stream) {
  const Shape& y = args.step.outputs[0].shape;
  const auto axis = static_cast<size_t>(op.axis < 0 ? op.axis + static_cast<int64_t>(y.size()) : op.axis);
  const int64_t inner = element_count(Shape(y.begin() + static_cast<int64_t>(axis) + 1, y.end()));
  float* destination = args.output();
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    const int64_t length = args.step.inputs[i].shape[axis] * inner;
    const int64_t count = element_count(args.step.inputs[i].shape);
    if (count > 0) {
      launch(place_rows, {.grid = grid_for(count), .block = kThreads}, stream.native(), args.input(i), destination,
             count, length, y[axis] * inner);
    }
    destination += length;
  }
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<TransposeOp>(step.op) && !std::holds_alternative<ConcatOp>(step.op)) {
    return "only Transpose and Concat are supported";
  }
  if (step.outputs[0].shape.size() > kMostDimensions) return "at most 8 dimensions are supported";
  return std::nullopt;
}

void launch_rearrange(const Args& args, Stream& stream) {
  if (const auto* op = std::get_if<TransposeOp>(&args.step.op)) return transpose(*op, args, stream);
  concat(std::get<ConcatOp>(args.step.op), args, stream);
}

const RegisterKernel registered{{
    .info = {.name = "cuda.rearrange",
             .device = kCompiledFor,
             .family = Family::rearrangement,
             .idea = "transposition and concatenation: one thread per element, which it only moves"},
    .refuses = refuses,
    .launch = launch_rearrange,
}};

}  // namespace
}  // namespace convlab
