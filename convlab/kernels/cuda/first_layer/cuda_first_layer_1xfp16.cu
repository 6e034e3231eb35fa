// Convolves one input channel on tensor cores with values rounded to fp16.

#include "convlab/kernels/cuda/first_layer/first_launch.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.first_layer_1xfp16",
    .device = kCompiledFor,
    .math = Math::tf32,
    .rung = kProductionRung,
    .idea = "cuda.first_layer_3xfp16 with one product of values rounded to fp16 (the mantissa of TF32)",
    .threads = "As in cuda.first_layer_3xfp16.",
    .cost =
        "2 * C * R * S flops; 1 / 1.875 of them (for 5x5) have a nonzero filter value; 4 bytes written, and each "
        "pixel read at most 1.3 times. A band with values outside fp16 range uses direct fp32 summation.",
    .refuses = "As cuda.first_layer_3xfp16.",
    .limit = "Memory: the bytes of the output.",
};

constexpr int kProducts = 1;

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (Refusal refusal = refuse_unless_first_layer(step, caps)) return refusal;
  if (step.output_format.order != Order::nchw) return "output must be nchw";
  const bool pooled = step.epilogue.pool.has_value();
  if (step.input_format == kRawPixels) {
    if (!pooled) return "uint8 input is only supported with fused pooling";
    return refuse_without_room<FirstLayer<uint8_t, kProducts, true>>(step, caps);
  }
  return pooled ? refuse_without_room<FirstLayer<float, kProducts, true>>(step, caps)
                : refuse_without_room<FirstLayer<float, kProducts, false>>(step, caps);
}

void launch_rounded(const ConvArgs& args, Stream& stream) {
  if (args.step.input_format == kRawPixels) {
    return launch_first_layer<FirstLayer<uint8_t, kProducts, true>>(args, stream);
  }
  if (args.step.epilogue.pool) return launch_first_layer<FirstLayer<float, kProducts, true>>(args, stream);
  launch_first_layer<FirstLayer<float, kProducts, false>>(args, stream);
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_rounded>,
    .tunables = kFirstLayerTunables,
}};

}  // namespace
}  // namespace convlab
