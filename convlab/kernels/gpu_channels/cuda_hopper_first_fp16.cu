// cuda.hopper_first_fp16: a network's first layer in fp16 for compute capability 9.0, from plain images, of numbers or
// bytes, to channels last: folded (see first_fold.cuh), then as cuda.hopper_igemm_fp16 computes any other.

#include "convlab/kernels/gpu_channels/hopper_first.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.hopper_first_fp16",
    .device = kCompiledFor,
    .math = Math::fp16,
    .sum = Sum::transform,
    .rung = kProductionRung,
    .rank = 92,
    .idea = "pixels of a stride, or a filter's columns, become channels: fewer terms are zeros",
    .after = "cuda.hopper_igemm_fp16",
    .threads = "a thread makes 8 channels of a folded pixel; then as cuda.hopper_igemm_fp16.",
    .cost =
        "2 flops for each tap and channel of the folded filter, channels rounded up to 16; images are written once "
        "more.",
    .refuses =
        "images that are not plain, groups, dilation with strides, more than 64 folded channels, pooling, GPUs other "
        "than of compute capability 9.0.",
    .limit = "writing results; then the copy of the images.",
};

const RegisterConvKernel registered(kernel_of<HopperFirst<HopperHalves>>(kInfo));

}  // namespace
}  // namespace convlab
