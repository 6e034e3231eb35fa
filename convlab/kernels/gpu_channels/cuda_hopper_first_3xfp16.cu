// cuda.hopper_first_3xfp16: a network's first layer in float32, in three products of halves, for compute
// capability 9.0, from plain images, of numbers or bytes, to channels last (see hopper_first.cuh).

#include "convlab/kernels/gpu_channels/hopper_first.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.hopper_first_3xfp16",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::split,
    .rung = kProductionRung,
    .rank = 93,
    .idea = "as cuda.hopper_first_fp16, of terms that are split in registers",
    .after = "cuda.hopper_igemm_3xfp16",
    .threads =
        "as cuda.hopper_first_fp16. A warp of whose 16 pixels one reaches 65504, or all are below 2^-12, sums up by "
        "definition.",
    .cost = "6 flops for each term, a filter's rows filled up to 4, 8 or more terms.",
    .refuses = "what cuda.hopper_first_fp16 refuses.",
    .limit = "writing results with 3 x 3, tensor cores with 7 x 7.",
};

const RegisterConvKernel registered(kernel_of<HopperFirst<HopperSplitHalves>>(kInfo));

}  // namespace
}  // namespace convlab
