// cuda.nhwc_igemm_3xfp16: fp32 convolution for deep networks on tensor cores in nhwc, with operands split in two fp16
// parts (see igemm.cuh).

#include "convlab/kernels/cuda/nhwc/igemm_conv.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nhwc_igemm_3xfp16",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::split,
    .rung = kProductionRung,
    .idea = "fp32 split in two fp16 while it is read, three products: twice the rate of three TF32 products",
    .after = "cuda.nhwc_igemm_tf32",
    .threads =
        "As cuda.nhwc_igemm_fp16, with 32 elements of the K dimension per slice. If any pixel of a tile reaches 65504, "
        "or "
        "all are below 2^-12, the tile is marked, and a final kernel computes it by direct summation.",
    .cost =
        "6 * C * R * S flops, C * R * S rounded up to 32; a pixel's channels are copied from L2 R * S times for every "
        "tile of output channels, and a filter once for every tile of pixels.",
    .refuses = "Channels per group that are not a multiple of 8, fused pooling, and compute capability below 8.0.",
    .limit = "Mma instructions and the copies that feed them: about 60 % of the wgmma rate on Hopper.",
};

const RegisterKernel registered(kernel_of<IgemmConv<SplitTerms>>(kInfo));

}  // namespace
}  // namespace convlab
