// cpu.softmax: computes exp(x - max) divided by its sum, or the logarithm of that, along one axis (or, if flattened,
// over all axes from it on).
// Threads: a work item is 64 lines along the axis. Exponentials are summed in double.
// Subtracts the largest value first, so that nothing overflows. A NaN makes its whole line NaN.
// Supports every case of its operator.
// Limited by exp().

#include <algorithm>
#include <cmath>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_softmax {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<SoftmaxOp>(step.op)) return "only Softmax and LogSoftmax are supported";
  return std::nullopt;
}

/// Computes one line of `count` elements, `stride` elements apart.
void softmax(const float* x, float* y, int64_t count, int64_t stride, bool log) {
  float most = x[0];
  for (int64_t i = 1; i < count; ++i) most = std::max(most, x[i * stride]);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float power = std::exp(x[i * stride] - most);
    if (!log) y[i * stride] = power;
    sum += power;
  }
  if (log) {
    const double logarithm = std::log(sum);
    for (int64_t i = 0; i < count; ++i) {
      y[i * stride] = static_cast<float>(static_cast<double>(x[i * stride]) - most - logarithm);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) y[i * stride] = static_cast<float>(y[i * stride] / sum);
  }
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<SoftmaxOp>(args.step.op);
  const Shape& shape = args.step.outputs[0].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = op.axis < 0 ? op.axis + rank : op.axis;
  int64_t outer = 1, count = 1, inner = 1;
  for (int64_t i = 0; i < rank; ++i) {
    (i < axis ? outer : i == axis || op.flattened ? count : inner) *= shape[static_cast<size_t>(i)];
  }
  if (count == 0) return;
  stream.threads()->parallel_for(outer * inner, 64, [&](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t at = line / inner * count * inner + line % inner;
      softmax(args.input(0) + at, args.output() + at, count, inner, op.log);
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.softmax",
             .device = DeviceKind::cpu,
             .family = Family::softmax,
             .idea = "softmax or its logarithm along an axis: subtracts the maximum, sums exponentials in double"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_softmax
