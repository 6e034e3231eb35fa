// cuda.nhwc_igemm_fp16: fp16 convolution for deep networks on tensor cores in nhwc (see igemm.cuh).

#include "convlab/kernels/cuda/nhwc/igemm_conv.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nhwc_igemm_fp16",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = kProductionRung,
    .idea = "implicit GEMM on nhwc: 8 channels of a pixel are the 16 bytes of one copy and one operand row",
    .after = "cuda.tensor_core_fp16",
    .threads =
        "A block of 4 or 8 warps computes 64 or 128 output pixels of 32 to 128 output channels; a warp 16 to 64 pixels "
        "by 32 output channels. All warps copy the next two slices of 64 elements of the K dimension while they "
        "multiply one. With few tiles, the K dimension is split across blocks, and a second kernel adds the parts in "
        "order.",
    .cost =
        "2 * C * R * S flops, C * R * S rounded up to 64; a pixel's channels are copied from L2 R * S times for every "
        "tile of output channels, and a filter once for every tile of pixels.",
    .refuses = "Channels per group that are not a multiple of 8, fused pooling, and compute capability below 8.0.",
    .limit = "Mma instructions and the copies that feed them: about 60 % of the wgmma rate on Hopper.",
};

const RegisterKernel registered(kernel_of<IgemmConv<HalfTerms>>(kInfo));

}  // namespace
}  // namespace convlab
