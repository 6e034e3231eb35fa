// cuda.nhwc_depthwise_fp32: depthwise convolution in fp32 nhwc (see pixel_depthwise.cuh).

#include "convlab/kernels/cuda/nhwc/pixel_depthwise.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nhwc_depthwise_fp32",
    .device = kCompiledFor,
    .rung = kProductionRung,
    .idea = "the same in fp32: no rounding, and twice the bytes",
    .after = "cuda.nhwc_depthwise",
    .threads = "As cuda.nhwc_depthwise, with 7 outputs of 2 channels; the next rows are prefetched to shared memory.",
    .cost = "2 * R * S flops, in fp32.",
    .refuses = "As cuda.nhwc_depthwise.",
    .limit = "Memory.",
};

const RegisterKernel registered(depthwise_kernel<float>(kInfo));

}  // namespace
}  // namespace convlab
