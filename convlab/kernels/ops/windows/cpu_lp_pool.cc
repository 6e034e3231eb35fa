// cpu.lp_pool: computes the p-norm of each window.
// Threads: a work item is a channel of an image, summed in double.
// Supports every case of its operator.
// Limited by pow() unless p is 1 or 2.

#include <cmath>

#include "convlab/kernels/ops/windows/windows.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_lp_pool {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<LpPoolOp>(step.op)) return "only LpPool is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<LpPoolOp>(args.step.op);
  const Shape& x = args.step.inputs[0].shape;
  const auto p = static_cast<double>(op.p);
  for_each_window({op.pool, op.auto_pad}, args.step, *stream.threads(),
                  [&](int64_t map, int64_t output, const Window& window) {
                    double sum = 0;
                    for (int64_t r = window.rows.first; r < window.rows.last; ++r) {
                      const int64_t row = map * x[2] + window.h + r * op.pool.dilation_h;
                      for (int64_t s = window.columns.first; s < window.columns.last; ++s) {
                        const double value = args.input(0)[row * x[3] + window.w + s * op.pool.dilation_w];
                        sum += op.p == 1 ? std::fabs(value) : op.p == 2 ? value * value : std::pow(std::fabs(value), p);
                      }
                    }
                    const double norm = op.p == 1 ? sum : op.p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
                    args.output()[output] = static_cast<float>(norm);
                  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.lp_pool",
             .device = DeviceKind::cpu,
             .family = Family::pooling,
             .idea = "p-norm of each window, summed in double"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_lp_pool
