// cuda.hopper_igemm_3xtf32: convolutions of deep networks in float32 for compute capability
// 9.0, channels last: each number is the sum of two of TF32, and the three larger products are added up (see
// hopper_conv.cuh).

#include "convlab/kernels/gpu_channels/hopper_igemm.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.hopper_igemm_3xtf32",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::split,
    .rung = kProductionRung,
    .rank = 88,
    .idea = "warps split pixels in registers, where instructions take them from, and no exponent is lost",
    .after = "cuda.hopper_igemm_tf32",
    .threads =
        "as cuda.hopper_igemm_tf32; tiles are of 64 or 128 pixels by 32 to 128 maps, so that a slice's products have "
        "registers of their own, which are then added to the sums in float32.",
    .cost = "6 * terms() flops, channels rounded up to 32; filters are copied in both parts.",
    .refuses = "what cuda.hopper_igemm_fp16 refuses.",
    .limit = "tensor cores.",
};

const RegisterConvKernel registered(kernel_of<HopperConv<HopperSplitTf32>>(kInfo));

}  // namespace
}  // namespace convlab
