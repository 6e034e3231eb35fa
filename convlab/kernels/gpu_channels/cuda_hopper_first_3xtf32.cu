// cuda.hopper_first_3xtf32: a network's first layer in float32, in three products of TF32, for compute capability 9.0, from plain images, of numbers or
// bytes, to channels last: folded (see first_fold.cuh), then as cuda.hopper_igemm_3xtf32 computes any other.

#include "convlab/kernels/gpu_channels/hopper_first.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.hopper_first_3xtf32",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::transform,
    .rung = kProductionRung,
    .rank = 89,
    .idea = "pixels of a stride, or a filter's columns, become channels, as in cuda.hopper_first_fp16",
    .after = "cuda.hopper_igemm_3xtf32",
    .threads = "a thread makes 8 channels of a folded pixel; then as cuda.hopper_igemm_3xtf32.",
    .cost =
        "as cuda.hopper_igemm_3xtf32 of the folded filter, channels rounded up to 32; images are written once more.",
    .refuses = "what cuda.hopper_first_fp16 refuses.",
    .limit = "writing results; then the copy of the images.",
};

const RegisterConvKernel registered(kernel_of<HopperFirst<HopperSplit>>(kInfo));

}  // namespace
}  // namespace convlab
