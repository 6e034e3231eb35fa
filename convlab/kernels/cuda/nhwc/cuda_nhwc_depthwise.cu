// cuda.nhwc_depthwise: depthwise convolution in fp16 nhwc (see pixel_depthwise.cuh).

#include "convlab/kernels/cuda/nhwc/pixel_depthwise.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nhwc_depthwise",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = kProductionRung,
    .idea = "each input pixel is loaded once and added to all the sums that use it, which stay in registers",
    .after = "cuda.nhwc_igemm_fp16",
    .threads =
        "For 3x3 and 5x5 filters with strides 1 or 2, a thread computes 7 adjacent outputs of 2 channels, row by row "
        "of a band; for arrays larger than L2, 4 outputs of 4 channels, with the next rows prefetched to shared "
        "memory. Adjacent threads compute the next channels. For other filters, a thread computes 8 channels of one "
        "output.",
    .cost =
        "2 * R * S flops and, for a band of b rows of strips of q outputs, (1 + (S - 1) / q) * (1 + (R - 1) / b) "
        "conversions at stride 1; products and sums are fp32.",
    .refuses = "Convolutions other than depthwise with depth multiplier 1, layouts other than nhwc, and fused pooling.",
    .limit = "Memory with 3x3 filters, multiply-adds with 5x5 at stride 1.",
};

const RegisterKernel registered(depthwise_kernel<__half>(kInfo));

}  // namespace
}  // namespace convlab
