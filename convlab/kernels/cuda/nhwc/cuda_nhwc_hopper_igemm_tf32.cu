// cuda.nhwc_hopper_igemm_tf32: TF32 convolution for deep networks in nhwc, for compute capability 9.0 (see
// hopper_conv.cuh).

#include "convlab/kernels/cuda/nhwc/hopper_igemm.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nhwc_hopper_igemm_tf32",
    .device = kCompiledFor,
    .math = Math::tf32,
    .rung = kProductionRung,
    .idea = "implicit GEMM: TMA rounds pixels to TF32 while it loads them",
    .after = "cuda.nhwc_hopper_igemm_fp16",
    .threads = "As cuda.nhwc_hopper_igemm_fp16, with 32 elements of the K dimension per slice.",
    .cost =
        "2 * C * R * S flops, C rounded up to 8; a pixel's channels are copied from L2 R * S times for every tile of "
        "output channels, and the filters once for every tile of pixels.",
    .refuses = "As cuda.nhwc_hopper_igemm_fp16.",
    .limit = "L2 bandwidth of a multiprocessor, as in fp16: operands have twice the bytes and half the rate.",
};

const RegisterKernel registered(kernel_of<HopperConv<HopperTf32>>(kInfo));

}  // namespace
}  // namespace convlab
