// cpu.nchw16n2c_bf16x2: convolution in split nchw16n2c bf16x2 in plain vector instructions.

#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw16n2c_bf16x2 {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nchw16n2c_bf16x2",
    .device = DeviceKind::cpu,
    .math = Math::bf16x2,
    .rung = 5,
    .idea = "operands split in two bf16, on any processor: the reference for cpu.nchw16n2c_amx_bf16x2",
    .after = "cpu.nchw16n2c_bf16",
    .threads =
        "A work item is a band of output rows of a range of output channels of 16 images; pair_conv.cc partitions the "
        "work.",
    .cost =
        "3 * C * R * S bf16 multiplications (2 * C * R * S for uint8 input, which needs no second part), each an fp32 "
        "multiply-add.",
    .refuses = "Layouts other than nchw16n2c, and fused pooling other than 2x2 max.",
    .limit = "Multiply-adds; cpu.nchw16n_direct is faster and more precise.",
};

const RegisterKernel registered{pair_conv_kernel<kInfo.math, Bf16Unit::vectors>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_nchw16n2c_bf16x2
