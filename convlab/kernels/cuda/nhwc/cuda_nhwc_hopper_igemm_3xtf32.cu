// cuda.nhwc_hopper_igemm_3xtf32: fp32 convolution for deep networks in nhwc, for compute capability 9.0. Each operand
// is split in two TF32 parts, and the three largest products are added (see hopper_conv.cuh).

#include "convlab/kernels/cuda/nhwc/hopper_igemm.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nhwc_hopper_igemm_3xtf32",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::split,
    .rung = kProductionRung,
    .idea = "warps split pixels in registers, where wgmma reads them, without loss of range",
    .after = "cuda.nhwc_hopper_igemm_tf32",
    .threads =
        "As cuda.nhwc_hopper_igemm_tf32; tiles are 64 or 128 pixels by 32 to 128 output channels, so that the products "
        "of a "
        "slice have their own registers and are then added to the fp32 sums.",
    .cost = "6 * C * R * S flops, C rounded up to 32; filters are copied in both parts.",
    .refuses = "As cuda.nhwc_hopper_igemm_fp16.",
    .limit = "Tensor cores.",
};

const RegisterKernel registered(kernel_of<HopperConv<HopperSplitTf32>>(kInfo));

}  // namespace
}  // namespace convlab
