// cuda.igemm_tf32: convolutions of deep networks in TF32 on tensor cores, channels last (see igemm.cuh).

#include "convlab/kernels/gpu_channels/igemm_conv.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.igemm_tf32",
    .device = kCompiledFor,
    .math = Math::tf32,
    .rung = kProductionRung,
    .rank = 86,
    .idea = "4 channels of float32 in place of 8 halves: no range is lost, at half the rate",
    .after = "cuda.igemm_fp16",
    .threads = "as cuda.igemm_fp16; a slice is 32 terms.",
    .cost =
        "2 * terms() flops, terms rounded up to 32; a pixel's channels are copied from the second cache r * s times "
        "for "
        "every tile of maps, a filter once for every tile of pixels.",
    .refuses = "channels or maps of a group that are no multiple of 8, pooling, compute capabilities below 8.0.",
    .limit = "mma instructions and the copies that feed them: about 60 % of what wgmma reaches on Hopper.",
};

const RegisterConvKernel registered(kernel_of<IgemmConv<TfTerms>>(kInfo));

}  // namespace
}  // namespace convlab
