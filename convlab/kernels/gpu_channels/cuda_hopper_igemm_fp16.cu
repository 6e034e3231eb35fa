// cuda.hopper_igemm_fp16: convolutions of deep networks in fp16 for compute capability 9.0,
// channels last (see hopper_conv.cuh).

#include "convlab/kernels/gpu_channels/hopper_igemm.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.hopper_igemm_fp16",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = kProductionRung,
    .rank = 90,
    .idea = "the copy engine finds the pixels of a filter's taps, and warpgroups multiply them",
    .after = "cuda.igemm_fp16",
    .threads =
        "one thread has operands copied, one or two warpgroups multiply tiles of 64 to 256 output pixels by 32 to 256 "
        "maps. Blocks go through tiles; where there are few, four or eight blocks of a cluster have a part of a tile's "
        "sums each.",
    .cost =
        "2 * terms() flops, channels rounded up to 16; a pixel's channels are copied from the second cache r * s times "
        "for every tile of maps, the filters once for every tile of pixels.",
    .refuses =
        "groups, channels or maps that are no multiple of 8, pooling, strides above 8, filters of more than 256 pixels "
        "with their gaps, padding above 128, GPUs other than of compute capability 9.0.",
    .limit =
        "what a multiprocessor gets from the second cache: about 45 bytes a cycle were seen, and a tile of 128 x 256 "
        "needs 47 to multiply all the time, one of 128 x 128 needs 64.",
};

const RegisterConvKernel registered(kernel_of<HopperConv<HopperHalves>>(kInfo));

}  // namespace
}  // namespace convlab
