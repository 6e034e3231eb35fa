// cpu.nchw16n2c_bf16: bf16 convolution in nchw16n2c in plain vector instructions.

#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw16n2c_bf16 {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nchw16n2c_bf16",
    .device = DeviceKind::cpu,
    .math = Math::bf16,
    .rung = 5,
    .idea = "bf16x2 pairs: half the memory, on any processor",
    .after = "cpu.nchw16n_direct",
    .threads =
        "A work item is a band of output rows of a range of output channels of 16 images; pair_conv.cc partitions the "
        "work.",
    .cost = "C * R * S bf16 multiplications, each an fp32 multiply-add.",
    .refuses = "Layouts other than nchw16n2c, and fused pooling other than 2x2 max.",
    .limit = "Multiply-adds and the broadcast of each weight.",
};

const RegisterKernel registered{pair_conv_kernel<kInfo.math, Bf16Unit::vectors>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_nchw16n2c_bf16
