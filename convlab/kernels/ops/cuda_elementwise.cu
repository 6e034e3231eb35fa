// cuda.elementwise: Add and Mul with NumPy's broadcasting. One thread per output element, grid-stride.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/ops/strided.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 65536;

__global__ void __launch_bounds__(kThreads)
    combine(const float* a, const float* b, float* y, int64_t count, Strided of_a, Strided of_b, bool multiply) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (int64_t i = first; i < count; i += static_cast<int64_t>(gridDim.x) * kThreads) {
    const float left = a[strided_offset(of_a, i)], right = b[strided_offset(of_b, i)];
    y[i] = multiply ? left * right : left + right;
  }
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<AddOp>(step.op) && !std::holds_alternative<MulOp>(step.op)) {
    return "only Add and Mul are supported";
  }
  if (step.outputs[0].shape.size() > kMostDimensions) return "at most 8 dimensions are supported";
  return std::nullopt;
}

void launch_elementwise(const Args& args, Stream& stream) {
  const int64_t count = element_count(args.step.outputs[0].shape);
  if (count == 0) return;
  const dim3 grid(std::min(ceil_div(count, kThreads), kMostBlocks));
  launch(combine, {.grid = grid, .block = kThreads}, stream.native(), args.input(0), args.input(1), args.output(),
         count, broadcast_strides(args.step.inputs[0].shape, args.step.outputs[0].shape),
         broadcast_strides(args.step.inputs[1].shape, args.step.outputs[0].shape),
         std::holds_alternative<MulOp>(args.step.op));
}

const RegisterKernel registered{{
    .info = {.name = "cuda.elementwise",
             .device = kCompiledFor,
             .family = Family::elementwise,
             .idea = "sum or product of two arrays, broadcast as in NumPy: one thread per output element"},
    .refuses = refuses,
    .launch = launch_elementwise,
}};

}  // namespace
}  // namespace convlab
