// cpu.nchw16n2c_amx_bf16: bf16 convolution in nchw16n2c with AMX.

#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw16n2c_amx_bf16 {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nchw16n2c_amx_bf16",
    .device = DeviceKind::cpu,
    .math = Math::bf16,
    .rung = 5,
    .idea = "AMX tiles of 16 output channels x 16 images, loaded in place",
    .after = "cpu.nchw16n2c_avx512_bf16",
    .threads =
        "A work item is a band of output rows of a range of output channels of 16 images; pair_conv.cc partitions the "
        "work.",
    .cost = "C * R * S bf16 multiplications, 8192 per instruction.",
    .refuses = "Layouts other than nchw16n2c, fused pooling other than 2x2 max, and processors or systems without AMX.",
    .limit = "Tile multiplications with many output channels and a large C * R * S, otherwise pooling and activation.",
};

const RegisterKernel registered{pair_conv_kernel<kInfo.math, Bf16Unit::amx>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_nchw16n2c_amx_bf16
