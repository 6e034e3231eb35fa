// cuda.softmax: computes Softmax and LogSoftmax, stably: the largest score is subtracted first. One thread per row of
// scores: the lab's networks have few classes.

#include <algorithm>
#include <cmath>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 128;
constexpr int64_t kMostBlocks = 65536;

/// The scores of row i are at x[i / inner * size * inner + i % inner + j * inner].
__global__ void __launch_bounds__(kThreads)
    normalize_rows(const float* x, float* y, int64_t rows, int64_t size, int64_t inner, bool log) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (int64_t row = first; row < rows; row += static_cast<int64_t>(gridDim.x) * kThreads) {
    const int64_t base = row / inner * size * inner + row % inner;
    float largest = -INFINITY;
    for (int64_t j = 0; j < size; ++j) largest = fmaxf(largest, x[base + j * inner]);
    float sum = 0;
    for (int64_t j = 0; j < size; ++j) sum += expf(x[base + j * inner] - largest);
    const float log_sum = logf(sum);
    for (int64_t j = 0; j < size; ++j) {
      const float score = x[base + j * inner] - largest;
      y[base + j * inner] = log ? score - log_sum : expf(score) / sum;
    }
  }
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<SoftmaxOp>(step.op)) return "only Softmax is supported";
  return std::nullopt;
}

void launch_softmax(const Args& args, Stream& stream) {
  const auto& op = std::get<SoftmaxOp>(args.step.op);
  const Shape& shape = args.step.outputs[0].shape;
  const int64_t count = element_count(shape);
  if (count == 0) return;
  const int64_t axis = op.axis < 0 ? op.axis + static_cast<int64_t>(shape.size()) : op.axis;
  const int64_t inner = op.flattened ? 1 : element_count(Shape(shape.begin() + axis + 1, shape.end()));
  const int64_t size = op.flattened ? element_count(Shape(shape.begin() + axis, shape.end())) : shape[axis];
  const int64_t rows = count / size;
  launch(normalize_rows, {.grid = dim3(std::min(ceil_div(rows, kThreads), kMostBlocks)), .block = kThreads},
         stream.native(), args.input(0), args.output(), rows, size, inner, op.log);
}

const RegisterKernel registered{{
    .info = {.name = "cuda.softmax",
             .device = kCompiledFor,
             .family = Family::softmax,
             .idea = "softmax or its logarithm: one thread per row, for few classes"},
    .refuses = refuses,
    .launch = launch_softmax,
}};

}  // namespace
}  // namespace convlab
