// cpu.transpose: permutes dimensions.
// Threads: a work item is 16 output rows along the last dimension; each is gathered with one stride.
// Supports every case of its operator.
// Limited by memory bandwidth, and by cache lines that contribute only one element each.

#include <algorithm>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_transpose {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<TransposeOp>(step.op)) return "only Transpose is supported";
  return std::nullopt;
}

/// Returns the input's stride along each dimension of the output, in elements.
std::vector<int64_t> strides_of(const Step& step) {
  const Shape& x = step.inputs[0].shape;
  const size_t rank = x.size();
  std::vector<int64_t> dense(rank, 1), strides(rank);
  for (size_t i = rank; i-- > 1;) dense[i - 1] = dense[i] * x[i];
  const std::vector<int64_t>& permutation = std::get<TransposeOp>(step.op).permutation;
  for (size_t i = 0; i < rank; ++i) {
    const size_t from = permutation.empty() ? rank - 1 - i : static_cast<size_t>(permutation[i]);
    strides[i] = dense[from];
  }
  return strides;
}

void launch(const Args& args, Stream& stream) {
  const Shape& shape = args.step.outputs[0].shape;
  const int64_t count = element_count(shape);
  if (count == 0) return;
  if (shape.size() < 2) {
    std::copy_n(args.input(0), count, args.output());
    return;
  }
  const std::vector<int64_t> strides = strides_of(args.step);
  const int64_t width = shape.back(), step = strides.back();
  stream.threads()->parallel_for(count / width, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const float* x = args.input(0);
      int64_t rest = row;
      for (size_t i = shape.size() - 1; i-- > 0; rest /= shape[i]) x += rest % shape[i] * strides[i];
      float* y = args.output() + row * width;
      for (int64_t i = 0; i < width; ++i) y[i] = x[i * step];
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.transpose",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "permutes dimensions: gathers each output row with one stride"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_transpose
