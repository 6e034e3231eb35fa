// cpu.round: rounds each value to fp16 or bf16, half to even, and keeps it as fp32.
// Threads: a work item is 8192 elements.
// Supports every case of its operator.
// Limited by the integer arithmetic of the conversion.

#include "convlab/base/half.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_round {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<RoundOp>(step.op)) return "only Cast to float16 and bfloat16 is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const bool brain = std::get<RoundOp>(args.step.op).brain;
  const float* x = args.input(0);
  stream.threads()->parallel_for(element_count(args.step.outputs[0].shape), 8192, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      args.output()[i] = brain ? rounded_to_brain(x[i]) : half_to_float(float_to_half(x[i]));
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.round",
             .device = DeviceKind::cpu,
             .family = Family::elementwise,
             .idea = "rounds each element to fp16 or bf16 and keeps it as fp32"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_round
