// cuda.deep_layer_1xfp16: convolutions with several channels in nchw fp32, in one fp16 product of scaled operands (see
// deep_layer.cuh).

#include "convlab/kernels/cuda/deep_layer/deep_launch.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.deep_layer_1xfp16",
    .device = kCompiledFor,
    .math = Math::tf32,
    .rung = kProductionRung,
    .idea = "one fp16 product of scaled operands; dedicated warps stage the input while others multiply",
    .after = "cuda.tensor_core_fp16",
    .threads =
        "8 warps multiply, 7 stage the input, scaled into fp16 range by a power of two, and one writes results (see "
        "deep_layer.cuh). A block stays on its multiprocessor and processes one image after another.",
    .cost = "2 * C * R * S flops; memory: each fp32 input and output once.",
    .refuses =
        "Fused epilogues other than bias and ReLU, uint8 input, strides, dilation, groups, filter heights other than "
        "3, 5 and 7, images too large for shared memory, and compute capability below 8.0. Values outside fp16 range "
        "use direct summation.",
    .limit = "Waiting for memory: shared memory holds only one raw image and the results of one.",
};

struct Shape {
  template <int R, int Columns>
  using Config = DeepConfig<R, Columns, deep_rows(R, Columns), 8, 7, PlainInput, PlainOutput>;
};

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) { return refuses_deep_layer<Shape>(step, caps, kNchw); }

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<deep_layer_prepared_bytes<Shape>>,
    .prepare = of_conv<prepare_deep_layer<Shape>>,
    .launch = of_conv<launch_deep_layer<Shape>>,
}};

}  // namespace
}  // namespace convlab
