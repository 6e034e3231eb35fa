#include "convlab/kernels/first_layer/launch.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.first_layer_1xfp16",
    .device = kCompiledFor,
    .math = Math::tf32,
    .rung = kProductionRung,
    .rank = 80,
    .idea = "cuda.first_layer_3xfp16 with one product of values rounded to halves: TF32's mantissa",
    .threads = "as in cuda.first_layer_3xfp16.",
    .cost =
        "2 * terms() flops, in 1 / 1.875 of which (5x5) the filter is not 0; 4 bytes written, and each pixel read 1.3 "
        "times at most. A band whose values leave the range of halves is computed by definition in fp32.",
    .refuses = "what cuda.first_layer_3xfp16 refuses.",
    .limit = "memory: the output's bytes.",
};

constexpr int kProducts = 1;

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (Refusal refusal = refuse_unless_first_layer(step, caps)) return refusal;
  if (step.output_layout != Layout::plain) return "gives plain arrays only";
  const bool pooled = step.epilogue.pool.has_value();
  if (step.input == ElementType::u8) {
    if (!pooled) return "takes raw pixels only together with pooling";
    return refuse_without_room<FirstLayer<uint8_t, kProducts, true>>(step, caps);
  }
  return pooled ? refuse_without_room<FirstLayer<float, kProducts, true>>(step, caps)
                : refuse_without_room<FirstLayer<float, kProducts, false>>(step, caps);
}

void launch_rounded(const ConvArgs& args, Stream& stream) {
  if (args.step.input == ElementType::u8) {
    return launch_first_layer<FirstLayer<uint8_t, kProducts, true>>(args, stream);
  }
  if (args.step.epilogue.pool) return launch_first_layer<FirstLayer<float, kProducts, true>>(args, stream);
  launch_first_layer<FirstLayer<float, kProducts, false>>(args, stream);
}

const RegisterConvKernel registered{{
    .info = kInfo,
    .refuses = refuses,
    .launch = launch_rounded,
    .tunables = kFirstLayerTunables,
}};

}  // namespace
}  // namespace convlab
