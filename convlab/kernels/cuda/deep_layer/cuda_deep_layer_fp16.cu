// cuda.deep_layer_fp16: convolutions with several channels in fp16, from nchw8c to nchw8c or nchw (see deep_layer.cuh).

#include "convlab/kernels/cuda/deep_layer/deep_launch.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.deep_layer_fp16",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = kProductionRung,
    .idea = "fp16 input and output in blocks of channels: no conversions, and filters stay in registers",
    .after = "cuda.deep_layer_1xfp16",
    .threads =
        "12 warps multiply and 3 stage the input by asynchronous copies, or 8 and 7, and one writes results (see "
        "deep_layer.cuh). A block stays on its multiprocessor and processes one image after another.",
    .cost = "2 * C * R * S flops; memory: each fp16 input and output once.",
    .refuses =
        "Nchw input, fused pooling, activations other than ReLU, strides, dilation, groups, filter heights other than "
        "3, 5 and 7, images too large for shared memory, and compute capability below 8.0.",
    .limit = "Tensor cores, busy for 68 % of the time; a third of the work of the consumer warps is not products.",
};

template <template <int, int> class Output>
struct Shape16 {
  // With fewer columns, there are fewer multiplications for each staged pixel.
  static constexpr int consumers(int columns) { return columns == 3 ? 12 : 8; }

  template <int R, int Columns>
  using Config =
      DeepConfig<R, Columns, deep_rows(R, Columns), consumers(Columns), 15 - consumers(Columns), BlocksInput, Output>;
};

using ToBlocks = Shape16<BlocksOutput>;
using ToPlain = Shape16<PlainOutput>;

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (step.output_format == kNchw8cF16) return refuses_deep_layer<ToBlocks>(step, caps, kNchw8cF16);
  return refuses_deep_layer<ToPlain>(step, caps, kNchw8cF16);
}

void launch(const ConvArgs& args, Stream& stream) {
  if (args.step.output_format == kNchw8cF16) return launch_deep_layer<ToBlocks>(args, stream);
  launch_deep_layer<ToPlain>(args, stream);
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<deep_layer_prepared_bytes<ToBlocks>>,
    .prepare = of_conv<prepare_deep_layer<ToBlocks>>,
    .launch = of_conv<launch>,
    .format = kNchw8cF16,
}};

}  // namespace
}  // namespace convlab
