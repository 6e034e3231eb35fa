// cpu.trilu: copies the upper or lower triangle of each matrix and sets the other elements to 0.
// Threads: a work item is 16 rows.
// Supports every case of its operator.
// Limited by memory bandwidth.

#include <algorithm>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_trilu {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<TriluOp>(step.op)) return "only Trilu is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<TriluOp>(args.step.op);
  const Shape& shape = args.step.outputs[0].shape;
  const int64_t height = shape[shape.size() - 2], width = shape.back();
  const int64_t diagonal = std::clamp(op.k, -height - 1, width + 1);
  stream.threads()->parallel_for(element_count(shape) / width, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const float* x = args.input(0) + row * width;
      float* y = args.output() + row * width;
      // The upper triangle starts on the diagonal; the lower one ends after it.
      const int64_t split = std::clamp<int64_t>(row % height + diagonal + (op.upper ? 0 : 1), 0, width);
      std::fill(op.upper ? y : y + split, op.upper ? y + split : y + width, 0.0f);
      std::copy(op.upper ? x + split : x, op.upper ? x + width : x + split, op.upper ? y + split : y);
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.trilu",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "copies the upper or lower triangle of each matrix, and zeros elsewhere"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_trilu
