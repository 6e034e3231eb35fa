// cpu.arg_reduce: computes the index of the largest or smallest element along an axis. NaN wins over all numbers.
// Threads: a work item is several lines along the axis.
// Not supported: axes of more than 2^24 elements, the limit of exact indices in fp32.
// Limited by memory bandwidth.

#include <cmath>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/ops/along/lines.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_arg_reduce {
namespace {

constexpr int64_t kMostNumbers = 1 << 24;

Refusal refuses(const Step& step, const DeviceCaps&) {
  const auto* op = std::get_if<ArgReduceOp>(&step.op);
  if (op == nullptr) return "only ArgMax and ArgMin are supported";
  if (Lines(step.inputs[0].shape, op->axis).count > kMostNumbers) return "axis must have at most 16777216 elements";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<ArgReduceOp>(args.step.op);
  const Lines lines(args.step.inputs[0].shape, op.axis);
  const auto before = [&](float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(b);
    return op.largest ? a > b : a < b;
  };
  stream.threads()->parallel_for(lines.lines(), lines.grain(), [&](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) {
      const float* x = args.input(0) + lines.begin_of(line);
      int64_t best = 0;
      for (int64_t i = 1; i < lines.count; ++i) {
        const float next = x[i * lines.inner], found = x[best * lines.inner];
        if (op.last ? !before(found, next) : before(next, found)) best = i;
      }
      args.output()[line] = static_cast<float>(best);
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.arg_reduce",
             .device = DeviceKind::cpu,
             .family = Family::reduction,
             .idea = "index of the largest or smallest element of each line along an axis"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_arg_reduce
