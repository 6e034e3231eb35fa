// Convolves one input channel on tensor cores with values split into two fp16 values.

#include "convlab/kernels/cuda/first_layer/first_launch.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.first_layer_3xfp16",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::split,
    .rung = kProductionRung,
    .idea =
        "one input channel: adjacent pixels of a row are the columns of a matrix, and whole output channels are stored "
        "at once",
    .threads =
        "A warp multiplies 16 cells (pairs of outputs, or squares to pool) by the filters of 4 to 12 output channels "
        "at a time (see first_layer.cuh).",
    .cost =
        "6 * C * R * S flops; 2 / 1.875 of them (for 5x5) have a nonzero filter value; 4 bytes written, and each "
        "pixel read at most 1.3 times. Pixels and filters are split in two fp16 with three products, as in "
        "cuda.tensor_core_3xfp16; uint8 pixels are exact in one fp16 and need two products.",
    .refuses =
        "More than one input channel, strides, dilation, groups, rows of more than 88 pixels, filters larger than 7x7, "
        "and fused epilogues without 2x2 max pooling.",
    .limit = "Memory: the bytes of the output.",
};

constexpr int kOfFloats = 3, kOfBytes = 2;  // products per fp32 and per uint8 input

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (Refusal refusal = refuse_unless_first_layer(step, caps)) return refusal;
  if (step.output_format.order != Order::nchw) return "output must be nchw";
  const bool pooled = step.epilogue.pool.has_value();
  if (step.input_format == kRawPixels) {
    if (!pooled) return "uint8 input is only supported with fused pooling";
    return refuse_without_room<FirstLayer<uint8_t, kOfBytes, true>>(step, caps);
  }
  return pooled ? refuse_without_room<FirstLayer<float, kOfFloats, true>>(step, caps)
                : refuse_without_room<FirstLayer<float, kOfFloats, false>>(step, caps);
}

void launch_split(const ConvArgs& args, Stream& stream) {
  if (args.step.input_format == kRawPixels) {
    return launch_first_layer<FirstLayer<uint8_t, kOfBytes, true>>(args, stream);
  }
  if (args.step.epilogue.pool) return launch_first_layer<FirstLayer<float, kOfFloats, true>>(args, stream);
  launch_first_layer<FirstLayer<float, kOfFloats, false>>(args, stream);
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_split>,
    .tunables = kFirstLayerTunables,
}};

}  // namespace
}  // namespace convlab
