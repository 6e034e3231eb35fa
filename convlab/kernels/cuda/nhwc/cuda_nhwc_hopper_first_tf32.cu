// cuda.nhwc_hopper_first_tf32: a network's first layer in TF32 for compute capability 9.0. Input is float or uint8 in
// nchw, output is nhwc (see hopper_first.cuh).

#include "convlab/kernels/cuda/nhwc/hopper_first.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nhwc_hopper_first_tf32",
    .device = kCompiledFor,
    .math = Math::tf32,
    .rung = kProductionRung,
    .idea = "cuda.nhwc_hopper_first_fp16 with operands rounded to TF32",
    .after = "cuda.nhwc_hopper_igemm_tf32",
    .threads = "As cuda.nhwc_hopper_first_fp16.",
    .cost = "2 flops per multiply-add, with filter rows padded to 4, 8 or more elements.",
    .refuses = "As cuda.nhwc_hopper_first_fp16.",
    .limit = "Writing results.",
};

const RegisterKernel registered(kernel_of<HopperFirst<HopperTf32>>(kInfo));

}  // namespace
}  // namespace convlab
