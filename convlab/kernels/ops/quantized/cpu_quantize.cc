// cpu.quantize: computes x / scale, rounded half to even, plus the zero point, saturated to the type's range. Like ONNX
// Runtime, it rounds before it adds the zero point.
// Threads: a work item is several rows, each with one scale or with one per element.
// Supports every case of its operator.
// Limited by memory bandwidth.

#include "convlab/kernels/ops/quantized/quantized_rounding.h"
#include "convlab/kernels/ops/quantized/steps.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_quantize {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<QuantizeOp>(step.op)) return "only QuantizeLinear is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<QuantizeOp>(args.step.op);
  const Levels levels{static_cast<float>(op.low), static_cast<float>(op.high)};
  for_each_quantized_row(args, op.axis, op.block_size, *stream.threads(), [&](const QuantizedRow& row) {
    if (row.scale_stride == 0 && row.zero_stride == 0) {
      const float scale = *row.scale, zero = *row.zero;
      for (int64_t i = 0; i < row.width; ++i) row.y[i] = saturated(row.x[i] / scale, zero, levels);
    } else {
      for (int64_t i = 0; i < row.width; ++i) {
        row.y[i] = saturated(row.x[i] / row.scale[i * row.scale_stride], row.zero[i * row.zero_stride], levels);
      }
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.quantize",
             .device = DeviceKind::cpu,
             .family = Family::quantized,
             .idea = "x / scale, rounded half to even, plus the zero point, row by row"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_quantize
