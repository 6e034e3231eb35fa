// cpu.lp_normalize: divides each line along an axis by its L1 or L2 norm.
// Threads: a work item is several lines along the axis, summed in double.
// Supports every case of its operator.
// Limited by memory bandwidth.

#include <cmath>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/ops/along/lines.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_lp_normalize {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<LpNormalizeOp>(step.op)) return "only LpNormalization is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<LpNormalizeOp>(args.step.op);
  const Lines lines(args.step.outputs[0].shape, op.axis);
  stream.threads()->parallel_for(lines.lines(), lines.grain(), [&](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) {
      const float* x = args.input(0) + lines.begin_of(line);
      float* y = args.output() + lines.begin_of(line);
      double sum = 0;
      for (int64_t i = 0; i < lines.count; ++i) {
        const double value = x[i * lines.inner];
        sum += op.p == 1 ? std::fabs(value) : value * value;
      }
      const double norm = op.p == 1 ? sum : std::sqrt(sum);
      for (int64_t i = 0; i < lines.count; ++i) {
        y[i * lines.inner] = static_cast<float>(x[i * lines.inner] / norm);
      }
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.lp_normalize",
             .device = DeviceKind::cpu,
             .family = Family::normalization,
             .idea = "divides each line along an axis by its L1 or L2 norm, summed in double"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_lp_normalize
