// cuda.nhwc_hopper_first_fp16: a network's first layer in fp16 for compute capability 9.0. Input is float or uint8 in
// nchw, output is nhwc (see hopper_first.cuh).

#include "convlab/kernels/cuda/nhwc/hopper_first.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nhwc_hopper_first_fp16",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = kProductionRung,
    .idea = "operands go from a patch of the nchw image to registers in tensor core order, without a copy in memory",
    .after = "cuda.nhwc_hopper_igemm_fp16",
    .threads =
        "Two warpgroups compute 8 output rows of up to 224 pixels, one row per warp, 16 pixels by 64 (or 32) output "
        "channels at a time.",
    .cost =
        "2 flops per multiply-add, with filter rows padded to 4, 8 or more elements; images are read once, except for "
        "the pixels that tiles share.",
    .refuses =
        "More than 8 input channels, input layouts other than nchw, outputs narrower than 16 columns, groups, "
        "horizontal dilation, fused pooling, fused addition, and GPUs other than compute capability 9.0.",
    .limit = "Writing results.",
};

const RegisterKernel registered(kernel_of<HopperFirst<HopperHalves>>(kInfo));

}  // namespace
}  // namespace convlab
