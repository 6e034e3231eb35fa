// cuda.hopper_first_tf32: a network's first layer in TF32 for compute capability 9.0, from plain images, of numbers or
// bytes, to channels last (see hopper_first.cuh).

#include "convlab/kernels/gpu_channels/hopper_first.cuh"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.hopper_first_tf32",
    .device = kCompiledFor,
    .math = Math::tf32,
    .rung = kProductionRung,
    .rank = 94,
    .idea = "as cuda.hopper_first_fp16, of terms that are rounded to TF32",
    .after = "cuda.hopper_igemm_tf32",
    .threads = "as cuda.hopper_first_fp16.",
    .cost = "2 flops for each term, a filter's rows filled up to 4, 8 or more terms.",
    .refuses = "what cuda.hopper_first_fp16 refuses.",
    .limit = "writing results.",
};

const RegisterConvKernel registered(kernel_of<HopperFirst<HopperTf32>>(kInfo));

}  // namespace
}  // namespace convlab
