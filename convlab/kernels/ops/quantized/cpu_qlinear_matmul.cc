// cpu.qlinear_matmul: multiplies matrices of 8-bit integers to 8-bit integers; sums are exact, rounded as in
// cpu.qlinear_conv.
// Threads: see integer_matmul.h.
// Supports every case of its operator.
// Limited by fused multiply-adds, or by packing b.

#include "convlab/kernels/ops/quantized/integer_matmul.h"
#include "convlab/kernels/ops/quantized/quantized_rounding.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_qlinear_matmul {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<QLinearMatMulOp>(step.op)) return "only QLinearMatMul is supported";
  return std::nullopt;
}

size_t workspace_bytes(const Step& step, const DeviceCaps&) {
  return static_cast<size_t>(
             integer_matmul_workspace_count(step.inputs[0].shape, step.inputs[3].shape, step.outputs[0].shape)) *
         sizeof(float);
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<QLinearMatMulOp>(args.step.op);
  const std::vector<Shape> shapes = shapes_of(args.step.inputs);
  const auto values = [&](size_t input) {
    return std::span<const float>(args.input(input), static_cast<size_t>(element_count(shapes[input])));
  };
  const Levels levels{static_cast<float>(op.low), static_cast<float>(op.high)};
  const IntegerMatrix a{args.input(0), shapes[0], values(2)}, b{args.input(3), shapes[3], values(5)};
  const std::span<const float> a_scales = values(1), b_scales = values(4);
  const float y_scale = *args.input(6), y_zero = *args.input(7);
  integer_matmul(a, b, args.step.outputs[0].shape, static_cast<float*>(args.workspace), *stream.threads(),
                 [&](int64_t row, int64_t column, int64_t place, int64_t count, const double* sums) {
                   const float a_scale = a_scales[a_scales.size() == 1 ? 0 : static_cast<size_t>(row)];
                   for (int64_t i = 0; i < count; ++i) {
                     const float b_scale = b_scales[b_scales.size() == 1 ? 0 : static_cast<size_t>(column + i)];
                     const float factor = a_scale * b_scale / y_scale;
                     args.output()[place + i] = saturated(static_cast<float>(sums[i]) * factor, y_zero, levels);
                   }
                 });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.qlinear_matmul",
             .device = DeviceKind::cpu,
             .family = Family::quantized,
             .idea = "the sums of cpu.matmul_integer, rounded to 8 bits as ONNX Runtime rounds them",
             .after = "cpu.matmul_integer"},
    .refuses = refuses,
    .workspace_bytes = workspace_bytes,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_qlinear_matmul
