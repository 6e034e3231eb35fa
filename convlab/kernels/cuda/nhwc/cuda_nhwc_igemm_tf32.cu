// cuda.nhwc_igemm_tf32: TF32 convolution for deep networks on tensor cores in nhwc (see igemm.cuh).

#include "convlab/kernels/cuda/nhwc/igemm_conv.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nhwc_igemm_tf32",
    .device = kCompiledFor,
    .math = Math::tf32,
    .rung = kProductionRung,
    .idea = "4 fp32 channels instead of 8 fp16: no loss of range, at half the rate",
    .after = "cuda.nhwc_igemm_fp16",
    .threads = "As cuda.nhwc_igemm_fp16, with 32 elements of the K dimension per slice.",
    .cost =
        "2 * C * R * S flops, C * R * S rounded up to 32; a pixel's channels are copied from L2 R * S times for every "
        "tile of output channels, and a filter once for every tile of pixels.",
    .refuses = "Channels per group that are not a multiple of 8, fused pooling, and compute capability below 8.0.",
    .limit = "Mma instructions and the copies that feed them: about 60 % of the wgmma rate on Hopper.",
};

const RegisterKernel registered(kernel_of<IgemmConv<TfTerms>>(kInfo));

}  // namespace
}  // namespace convlab
