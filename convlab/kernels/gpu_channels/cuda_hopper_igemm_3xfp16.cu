// cuda.hopper_igemm_3xfp16: convolutions of deep networks in float32 for compute capability
// 9.0, channels last: each number is the sum of two halves, and the three larger products are added up (see
// hopper_conv.cuh).

#include "convlab/kernels/gpu_channels/hopper_igemm.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.hopper_igemm_3xfp16",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::split,
    .rung = kProductionRung,
    .rank = 89,
    .idea = "pixels split in two halves in registers: twice the rate of three products in TF32",
    .after = "cuda.hopper_igemm_3xtf32",
    .threads =
        "as cuda.hopper_igemm_3xtf32. A warp of whose 16 pixels one reaches 65504, or all are below 2^-12, sums up by "
        "definition.",
    .cost = "6 * terms() flops, channels rounded up to 32; filters are copied in three parts of halves.",
    .refuses = "what cuda.hopper_igemm_fp16 refuses.",
    .limit = "tensor cores.",
};

const RegisterConvKernel registered(kernel_of<HopperConv<HopperSplitHalves>>(kInfo));

}  // namespace
}  // namespace convlab
