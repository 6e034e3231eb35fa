// cuda.igemm_3xfp16: convolutions of deep networks in float32, split in halves, on tensor cores, channels last (see
// igemm.cuh).

#include "convlab/kernels/gpu_channels/igemm_conv.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.igemm_3xfp16",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::split,
    .rung = kProductionRung,
    .rank = 85,
    .idea = "float32 split in two halves as it is read, three products: twice the rate of three products in TF32",
    .after = "cuda.igemm_tf32",
    .threads =
        "as cuda.igemm_fp16; a slice is 32 terms. A tile of whose pixels one reaches 65504, or all are below 2^-12, is "
        "marked, and a last kernel computes it by definition.",
    .cost =
        "6 * terms() flops, terms rounded up to 32; a pixel's channels are copied from the second cache r * s times "
        "for "
        "every tile of maps, a filter once for every tile of pixels.",
    .refuses = "channels or maps of a group that are no multiple of 8, pooling, compute capabilities below 8.0.",
    .limit = "mma instructions and the copies that feed them: about 60 % of what wgmma reaches on Hopper.",
};

const RegisterConvKernel registered(kernel_of<IgemmConv<SplitTerms>>(kInfo));

}  // namespace
}  // namespace convlab
