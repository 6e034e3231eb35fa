// cuda.nhwc_hopper_igemm_3xfp16: fp32 convolution for deep networks in nhwc, for compute capability 9.0. Each operand
// is split in two fp16 parts, and the three largest products are added (see hopper_conv.cuh).

#include "convlab/kernels/cuda/nhwc/hopper_igemm.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nhwc_hopper_igemm_3xfp16",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::split,
    .rung = kProductionRung,
    .idea = "pixels split in two fp16 in registers: twice the rate of three TF32 products",
    .after = "cuda.nhwc_hopper_igemm_3xtf32",
    .threads =
        "As cuda.nhwc_hopper_igemm_3xtf32. If any of a warp's 16 pixels reaches 65504, or all are below 2^-12, the "
        "warp "
        "falls back to direct summation.",
    .cost = "6 * C * R * S flops, C rounded up to 32; filters are copied as three fp16 parts.",
    .refuses = "As cuda.nhwc_hopper_igemm_fp16.",
    .limit = "Tensor cores.",
};

const RegisterKernel registered(kernel_of<HopperConv<HopperSplitHalves>>(kInfo));

}  // namespace
}  // namespace convlab
