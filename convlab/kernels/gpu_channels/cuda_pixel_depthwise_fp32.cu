// cuda.pixel_depthwise_fp32: depthwise convolutions of Layout::channels_last_floats (see pixel_depthwise.cuh).

#include "convlab/kernels/gpu_channels/pixel_depthwise.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.pixel_depthwise_fp32",
    .device = kCompiledFor,
    .rung = kProductionRung,
    .rank = 95,
    .idea = "the same of float32: nothing is rounded, and twice as much is moved",
    .after = "cuda.pixel_depthwise",
    .threads = "as cuda.pixel_depthwise, with 2 channels of 7 outputs; the next rows wait in shared memory.",
    .cost = "2 * r * s flops, in float32.",
    .refuses = "what cuda.pixel_depthwise refuses.",
    .limit = "memory.",
};

const RegisterConvKernel registered(depthwise_kernel<float>(kInfo));

}  // namespace
}  // namespace convlab
