// cuda.pixel_depthwise: depthwise convolutions of Layout::channels_last (see pixel_depthwise.cuh).

#include "convlab/kernels/gpu_channels/pixel_depthwise.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.pixel_depthwise",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = kProductionRung,
    .rank = 95,
    .idea = "an input pixel is loaded once, and added to all rows of sums that it belongs to, which stay in registers",
    .after = "cuda.igemm_fp16",
    .threads =
        "of filters of 3 x 3 and 5 x 5 with strides 1 or 2, a thread makes 2 channels of 7 outputs side by "
        "side, row by row of a band; of more than the second cache keeps, 4 channels of 4, whose next rows "
        "wait in shared memory. Neighbours are the next channels. Of others, 8 channels of an output.",
    .cost =
        "2 * r * s flops and, for a band of b rows of strips of q, (1 + (s - 1) / q) * (1 + (r - 1) / b) "
        "conversions, at stride 1; products and sums are float32.",
    .refuses = "anything but one map a channel, channels last from end to end; pooling.",
    .limit = "memory with 3 x 3, multiply-adds with 5 x 5 at stride 1.",
};

const RegisterConvKernel registered(depthwise_kernel<__half>(kInfo));

}  // namespace
}  // namespace convlab
