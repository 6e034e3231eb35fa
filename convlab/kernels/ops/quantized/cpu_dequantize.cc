// cpu.dequantize: computes (x - zero point) * scale.
// Threads: a work item is several rows, each with one scale or with one per element.
// Supports every case of its operator.
// Limited by memory bandwidth.

#include "convlab/kernels/ops/quantized/steps.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_dequantize {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<DequantizeOp>(step.op)) return "only DequantizeLinear is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<DequantizeOp>(args.step.op);
  for_each_quantized_row(args, op.axis, op.block_size, *stream.threads(), [](const QuantizedRow& row) {
    for (int64_t i = 0; i < row.width; ++i) {
      row.y[i] = (row.x[i] - row.zero[i * row.zero_stride]) * row.scale[i * row.scale_stride];
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.dequantize",
             .device = DeviceKind::cpu,
             .family = Family::quantized,
             .idea = "(x - zero point) * scale, row by row"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_dequantize
