// cpu.matmul_integer: multiplies matrices of 8-bit integers; sums are exact as far as fp32 represents them.
// Threads: see integer_matmul.h.
// Supports every case of its operator.
// Limited by fused multiply-adds, or by packing b.

#include "convlab/kernels/ops/quantized/integer_matmul.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_matmul_integer {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<MatMulIntegerOp>(step.op)) return "only MatMulInteger is supported";
  return std::nullopt;
}

size_t workspace_bytes(const Step& step, const DeviceCaps&) {
  return static_cast<size_t>(
             integer_matmul_workspace_count(step.inputs[0].shape, step.inputs[1].shape, step.outputs[0].shape)) *
         sizeof(float);
}

void launch(const Args& args, Stream& stream) {
  const std::vector<Shape> shapes = shapes_of(args.step.inputs);
  const auto zeros = [&](size_t input) -> std::span<const float> {
    if (input >= args.inputs.size()) return {};
    return {args.input(input), static_cast<size_t>(element_count(shapes[input]))};
  };
  const IntegerMatrix a{args.input(0), shapes[0], zeros(2)}, b{args.input(1), shapes[1], zeros(3)};
  integer_matmul(a, b, args.step.outputs[0].shape, static_cast<float*>(args.workspace), *stream.threads(),
                 [&](int64_t, int64_t, int64_t place, int64_t count, const double* sums) {
                   for (int64_t i = 0; i < count; ++i) args.output()[place + i] = static_cast<float>(sums[i]);
                 });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.matmul_integer",
             .device = DeviceKind::cpu,
             .family = Family::quantized,
             .idea = "product of matrices of 8-bit integers held as fp32, with exact sums"},
    .refuses = refuses,
    .workspace_bytes = workspace_bytes,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_matmul_integer
