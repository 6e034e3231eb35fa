// cpu.conv_integer: convolves 8-bit integers; sums are exact as far as fp32 represents them.
// Threads: see integer_conv.h.
// Supports every case of its operator.
// Limited by unrolling (im2col), and by fused multiply-adds.

#include "convlab/kernels/ops/quantized/integer_conv.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"

namespace convlab::cpu_conv_integer {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ConvIntegerOp>(step.op)) return "only ConvInteger is supported";
  return std::nullopt;
}

ConvProblem problem_of(const Step& step) {
  return conv_problem(std::get<ConvIntegerOp>(step.op).conv, step.inputs[0].shape, step.inputs[1].shape);
}

size_t workspace_bytes(const Step& step, const DeviceCaps&) {
  return static_cast<size_t>(integer_conv_workspace_count(problem_of(step))) * sizeof(float);
}

void launch(const Args& args, Stream& stream) {
  IntegerConv conv{.problem = problem_of(args.step), .x = args.input(0), .w = args.input(1)};
  if (args.inputs.size() > 2) conv.x_zero = *args.input(2);
  if (args.inputs.size() > 3) {
    conv.w_zeros = {args.input(3), static_cast<size_t>(element_count(args.step.inputs[3].shape))};
  }
  integer_conv(conv, static_cast<float*>(args.workspace), *stream.threads(),
               [&](int64_t, int64_t place, int64_t count, const double* sums) {
                 for (int64_t i = 0; i < count; ++i) args.output()[place + i] = static_cast<float>(sums[i]);
               });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.conv_integer",
             .device = DeviceKind::cpu,
             .family = Family::quantized,
             .idea = "convolution of 8-bit integers held as fp32: im2col and an fp32 matrix product with exact sums"},
    .refuses = refuses,
    .workspace_bytes = workspace_bytes,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_conv_integer
