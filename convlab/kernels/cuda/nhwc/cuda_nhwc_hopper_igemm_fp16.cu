// cuda.nhwc_hopper_igemm_fp16: fp16 convolution for deep networks in nhwc, for compute capability 9.0 (see
// hopper_conv.cuh).

#include "convlab/kernels/cuda/nhwc/hopper_igemm.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nhwc_hopper_igemm_fp16",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = kProductionRung,
    .idea = "implicit GEMM: TMA loads the pixels of the filter taps, and warpgroups multiply them",
    .after = "cuda.nhwc_igemm_fp16",
    .threads =
        "One thread issues TMA copies; one or two warpgroups multiply tiles of 64 to 256 output pixels by 32 to 256 "
        "output channels. Blocks are persistent; with few tiles, four or eight blocks of a cluster split the K "
        "dimension.",
    .cost =
        "2 * C * R * S flops, C rounded up to 16; a pixel's channels are copied from L2 R * S times for every tile of "
        "output channels, and the filters once for every tile of pixels.",
    .refuses =
        "Groups, channels that are not a multiple of 8, fused pooling other than 2x2 max, strides above 8, dilated "
        "filters of more than 256 pixels, padding above 128, and GPUs other than compute capability 9.0.",
    .limit =
        "L2 bandwidth of a multiprocessor: about 45 bytes per cycle measured; a tile of 128x256 needs 47 to keep the "
        "tensor cores busy, one of 128x128 needs 64.",
};

const RegisterKernel registered(kernel_of<HopperConv<HopperHalves>>(kInfo));

}  // namespace
}  // namespace convlab
