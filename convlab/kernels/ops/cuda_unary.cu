// cuda.unary: applies a unary function to every element. One thread per element, grid-stride.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/ops/functions.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 65536;

__global__ void __launch_bounds__(kThreads) apply_function(const float* x, float* y, int64_t count, UnaryOp op) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (int64_t i = first; i < count; i += static_cast<int64_t>(gridDim.x) * kThreads) y[i] = function_of(op, x[i]);
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<UnaryOp>(step.op)) return "only unary functions are supported";
  return std::nullopt;
}

void launch_unary(const Args& args, Stream& stream) {
  const int64_t count = element_count(args.step.outputs[0].shape);
  if (count == 0) return;
  const dim3 grid(std::min(ceil_div(count, kThreads), kMostBlocks));
  launch(apply_function, {.grid = grid, .block = kThreads}, stream.native(), args.input(0), args.output(), count,
         std::get<UnaryOp>(args.step.op));
}

const RegisterKernel registered{{
    .info = {.name = "cuda.unary",
             .device = kCompiledFor,
             .family = Family::elementwise,
             .idea = "a function of each element: one thread per element"},
    .refuses = refuses,
    .launch = launch_unary,
}};

}  // namespace
}  // namespace convlab
