// cpu.cum_sum: computes running sums along an axis.
// Threads: a work item is several lines along the axis, summed in double.
// Supports every case of its operator.
// Limited by the latency of one addition per element.

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/ops/along/lines.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_cum_sum {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<CumSumOp>(step.op)) return "only CumSum is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<CumSumOp>(args.step.op);
  const Lines lines(args.step.outputs[0].shape, op.axis);
  stream.threads()->parallel_for(lines.lines(), lines.grain(), [&](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t first = lines.begin_of(line) + (op.reverse ? (lines.count - 1) * lines.inner : 0);
      const int64_t step = op.reverse ? -lines.inner : lines.inner;
      double sum = 0;
      for (int64_t i = 0; i < lines.count; ++i) {
        const double before = sum;
        sum += args.input(0)[first + i * step];
        args.output()[first + i * step] = static_cast<float>(op.exclusive ? before : sum);
      }
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.cum_sum",
             .device = DeviceKind::cpu,
             .family = Family::reduction,
             .idea = "running sums along an axis, in double"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_cum_sum
