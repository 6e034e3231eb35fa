// cpu.qlinear_conv: convolves 8-bit integers to 8-bit integers. Sums are exact; the result is rounded as ONNX Runtime
// rounds it: the sum in fp32, times x_scale * w_scale / y_scale in fp32, rounded to the nearest quantized value, half
// to even.
// Threads: see integer_conv.h.
// Supports every case of its operator.
// Limited by unrolling (im2col), and by fused multiply-adds.

#include "convlab/kernels/ops/quantized/integer_conv.h"
#include "convlab/kernels/ops/quantized/quantized_rounding.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"

namespace convlab::cpu_qlinear_conv {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<QLinearConvOp>(step.op)) return "only QLinearConv is supported";
  return std::nullopt;
}

ConvProblem problem_of(const Step& step) {
  return conv_problem(std::get<QLinearConvOp>(step.op).conv, step.inputs[0].shape, step.inputs[3].shape);
}

size_t workspace_bytes(const Step& step, const DeviceCaps&) {
  return static_cast<size_t>(integer_conv_workspace_count(problem_of(step))) * sizeof(float);
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<QLinearConvOp>(args.step.op);
  const auto count_of = [&](size_t input) { return static_cast<size_t>(element_count(args.step.inputs[input].shape)); };
  const float x_scale = *args.input(1), y_scale = *args.input(6), y_zero = *args.input(7);
  const Levels levels{static_cast<float>(op.low), static_cast<float>(op.high)};
  const IntegerConv conv{.problem = problem_of(args.step),
                         .x = args.input(0),
                         .w = args.input(3),
                         .x_zero = *args.input(2),
                         .w_zeros = {args.input(5), count_of(5)}};
  integer_conv(conv, static_cast<float*>(args.workspace), *stream.threads(),
               [&](int64_t map, int64_t place, int64_t count, const double* sums) {
                 const float factor = x_scale * args.input(4)[count_of(4) == 1 ? 0 : map] / y_scale;
                 const double bias = args.inputs.size() > 8 ? args.input(8)[map] : 0;
                 float* y = args.output() + place;
                 for (int64_t i = 0; i < count; ++i) {
                   y[i] = saturated(static_cast<float>(sums[i] + bias) * factor, y_zero, levels);
                 }
               });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.qlinear_conv",
             .device = DeviceKind::cpu,
             .family = Family::quantized,
             .idea = "the sums of cpu.conv_integer, rounded to 8 bits as ONNX Runtime rounds them",
             .after = "cpu.conv_integer"},
    .refuses = refuses,
    .workspace_bytes = workspace_bytes,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_qlinear_conv
