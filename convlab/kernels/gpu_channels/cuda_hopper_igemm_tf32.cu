// cuda.hopper_igemm_tf32: convolutions of deep networks in TF32 for compute capability 9.0,
// channels last (see hopper_conv.cuh).

#include "convlab/kernels/gpu_channels/hopper_igemm.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.hopper_igemm_tf32",
    .device = kCompiledFor,
    .math = Math::tf32,
    .rung = kProductionRung,
    .rank = 90,
    .idea = "the copy engine rounds pixels to TF32 while it finds them",
    .after = "cuda.hopper_igemm_fp16",
    .threads = "as cuda.hopper_igemm_fp16; a slice is 32 terms.",
    .cost =
        "2 * terms() flops, channels rounded up to 8; a pixel's channels are copied from the second cache r * s times "
        "for every tile of maps, the filters once for every tile of pixels.",
    .refuses = "what cuda.hopper_igemm_fp16 refuses.",
    .limit =
        "what a multiprocessor gets from the second cache, as in fp16: terms take twice the bytes, at half the rate.",
};

const RegisterConvKernel registered(kernel_of<HopperConv<HopperTf32>>(kInfo));

}  // namespace
}  // namespace convlab
