#include "convlab/kernels/first_layer/launch.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.first_layer_3xfp16",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::split,
    .rung = kProductionRung,
    .rank = 70,
    .idea = "one channel: neighbours in a row are a matrix's columns, and whole maps are stored at once",
    .threads =
        "a warp multiplies 16 cells, pairs of outputs or squares to pool, by the filters of 4 to 12 maps at a time; "
        "layer.cuh has the picture.",
    .cost =
        "6 * terms() flops, in 2 / 1.875 of which (5x5) the filter is not 0; 4 bytes written, and each pixel read 1.3 "
        "times at most. Pixels and filters are split in two halves with three products, as in cuda.tensor_core_3xfp16; "
        "bytes are exact in one half, and take two products.",
    .refuses =
        "more than one channel, strides, dilation, groups, rows of more than 88 pixels, filters beyond 7x7, and "
        "epilogues other than those with maxima of 2x2.",
    .limit = "memory: the output's bytes.",
};

constexpr int kOfFloats = 3, kOfBytes = 2;  // products

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (Refusal refusal = refuse_unless_first_layer(step, caps)) return refusal;
  if (step.output_layout != Layout::plain) return "gives plain arrays only";
  const bool pooled = step.epilogue.pool.has_value();
  if (step.input == ElementType::u8) {
    if (!pooled) return "takes raw pixels only together with pooling";
    return refuse_without_room<FirstLayer<uint8_t, kOfBytes, true>>(step, caps);
  }
  return pooled ? refuse_without_room<FirstLayer<float, kOfFloats, true>>(step, caps)
                : refuse_without_room<FirstLayer<float, kOfFloats, false>>(step, caps);
}

void launch_split(const ConvArgs& args, Stream& stream) {
  if (args.step.input == ElementType::u8) {
    return launch_first_layer<FirstLayer<uint8_t, kOfBytes, true>>(args, stream);
  }
  if (args.step.epilogue.pool) return launch_first_layer<FirstLayer<float, kOfFloats, true>>(args, stream);
  launch_first_layer<FirstLayer<float, kOfFloats, false>>(args, stream);
}

const RegisterConvKernel registered{{
    .info = kInfo,
    .refuses = refuses,
    .launch = launch_split,
    .tunables = kFirstLayerTunables,
}};

}  // namespace
}  // namespace convlab
