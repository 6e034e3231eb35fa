// cpu.add: adds two arrays element by element, broadcast as in NumPy.
// Threads: a work item is a range of output rows; see cpu_broadcast.h.
// Supports every case of its operator.
// Limited by memory bandwidth.

#include "convlab/kernels/ops/cpu_broadcast.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_add {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<AddOp>(step.op)) return "only Add is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  elementwise(args, *stream.threads(), [](float a, float b) { return a + b; });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.add",
             .device = DeviceKind::cpu,
             .family = Family::elementwise,
             .idea = "sum of two arrays, broadcast as in NumPy, row by row"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_add
