// cuda.nhwc_hopper_first_3xfp16: a network's first layer in fp32, as three fp16 products, for compute capability 9.0.
// Input is float or uint8 in nchw, output is nhwc (see hopper_first.cuh).

#include "convlab/kernels/cuda/nhwc/hopper_first.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nhwc_hopper_first_3xfp16",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::split,
    .rung = kProductionRung,
    .idea = "cuda.nhwc_hopper_first_fp16 with operands split in registers",
    .after = "cuda.nhwc_hopper_igemm_3xfp16",
    .threads =
        "As cuda.nhwc_hopper_first_fp16. If any of a warp's 16 pixels reaches 65504, or all are below 2^-12, the warp "
        "falls "
        "back to direct summation.",
    .cost = "6 flops per multiply-add, with filter rows padded to 4, 8 or more elements.",
    .refuses = "As cuda.nhwc_hopper_first_fp16.",
    .limit = "Writing results with 3x3 filters, tensor cores with 7x7.",
};

const RegisterKernel registered(kernel_of<HopperFirst<HopperSplitHalves>>(kInfo));

}  // namespace
}  // namespace convlab
