// cuda.hopper_first_fp16: a network's first layer in fp16 for compute capability 9.0, from plain images, of numbers or
// bytes, to channels last (see hopper_first.cuh).

#include "convlab/kernels/gpu_channels/hopper_first.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.hopper_first_fp16",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = kProductionRung,
    .rank = 94,
    .idea =
        "terms of pixels go from a patch of the plain image to registers, as tensor cores take them: no copy in memory",
    .after = "cuda.hopper_igemm_fp16",
    .threads =
        "two warpgroups make 8 output rows of up to 224 pixels, a warp each, 16 pixels by 64 (or 32) maps at a time.",
    .cost =
        "2 flops for each term, a filter's rows filled up to 4, 8 or more terms; images are read once, and what tiles "
        "share.",
    .refuses =
        "more than 8 channels, images that are not plain, results of less than 16 columns, groups, gaps in a filter's "
        "rows, "
        "pooling, additions, GPUs other than of compute capability 9.0.",
    .limit = "writing results.",
};

const RegisterConvKernel registered(kernel_of<HopperFirst<HopperHalves>>(kInfo));

}  // namespace
}  // namespace convlab
