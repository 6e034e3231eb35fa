// cpu.nchw16n2c_avx512_bf16: bf16 convolution in nchw16n2c with AVX512-BF16.

#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw16n2c_avx512_bf16 {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nchw16n2c_avx512_bf16",
    .device = DeviceKind::cpu,
    .math = Math::bf16,
    .rung = 5,
    .idea = "VDPBF16PS: two bf16 products per lane",
    .after = "cpu.nchw16n2c_bf16",
    .threads =
        "A work item is a band of output rows of a range of output channels of 16 images; pair_conv.cc partitions the "
        "work.",
    .cost = "C * R * S bf16 multiplications, 32 per instruction.",
    .refuses =
        "Layouts other than nchw16n2c, fused pooling other than 2x2 max, and processors or systems without "
        "AVX512-BF16.",
    .limit = "VDPBF16PS: a core issues one per cycle.",
};

const RegisterKernel registered{pair_conv_kernel<kInfo.math, Bf16Unit::avx512_bf16>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_nchw16n2c_avx512_bf16
