// cuda.igemm_fp16: convolutions of deep networks in fp16 on tensor cores, channels last (see igemm.cuh).

#include "convlab/kernels/gpu_channels/igemm_conv.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.igemm_fp16",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = kProductionRung,
    .rank = 85,
    .idea = "an implicit GEMM of channels last: 8 channels of a pixel are the 16 bytes that are copied and multiplied",
    .after = "cuda.tensor_core_fp16",
    .threads =
        "a block of 4 or 8 warps makes 64 or 128 output pixels of 32 to 128 maps; a warp 16 to 64 by 32 of these. All "
        "copy the next two slices of 64 terms while they multiply one. Where there are few tiles, each tile's sums are "
        "cut in parts, which a second kernel adds up in order.",
    .cost =
        "2 * terms() flops, terms rounded up to 64; a pixel's channels are copied from the second cache r * s times "
        "for "
        "every tile of maps, a filter once for every tile of pixels.",
    .refuses = "channels or maps of a group that are no multiple of 8, pooling, compute capabilities below 8.0.",
    .limit = "mma instructions and the copies that feed them: about 60 % of what wgmma reaches on Hopper.",
};

const RegisterConvKernel registered(kernel_of<IgemmConv<HalfTerms>>(kInfo));

}  // namespace
}  // namespace convlab
