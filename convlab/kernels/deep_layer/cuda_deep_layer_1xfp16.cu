#include "convlab/kernels/deep_layer/launch.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.deep_layer_1xfp16",
    .device = kCompiledFor,
    .math = Math::tf32,
    .rung = kProductionRung,
    .rank = 50,
    .idea = "one fp16 product of scaled operands, staged by warps of their own while others multiply",
    .after = "cuda.tensor_core_fp16",
    .threads =
        "8 warps multiply, 7 stage the input, brought into fp16's range by a power of two, one writes results; "
        "layer.cuh draws the picture. A block stays on its multiprocessor and works through images.",
    .cost = "2 * terms() flops; memory: each float of input and output once.",
    .refuses =
        "epilogues other than bias and ReLU, images of bytes, strides, dilation, groups, filters not 3, 5 or 7 high, "
        "images a few rows of which do not fit into shared memory, GPUs before compute capability 8.0. Values outside "
        "fp16's range it computes by definition.",
    .limit = "waiting for memory: shared memory has room for one raw image and for the results of one.",
};

struct Shape {
  template <int R, int Columns>
  using Config = DeepConfig<R, Columns, deep_rows(R, Columns), 8, 7, PlainInput, PlainOutput>;
};

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  return refuses_deep_layer<Shape>(step, caps, Layout::plain);
}

const RegisterConvKernel registered{{
    .info = kInfo,
    .refuses = refuses,
    .prepared_bytes = deep_layer_prepared_bytes<Shape>,
    .prepare = prepare_deep_layer<Shape>,
    .launch = launch_deep_layer<Shape>,
}};

}  // namespace
}  // namespace convlab
