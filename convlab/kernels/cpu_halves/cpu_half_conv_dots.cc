#include "convlab/kernels/cpu_halves/half_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_half_conv_dots {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.half_conv_dots",
    .device = DeviceKind::cpu,
    .math = Math::bf16,
    .rung = 5,
    .rank = 61,
    .idea = "12 pixels x 32 maps in registers, pairs of channels by VDPBF16PS",
    .after = "cpu.half_conv",
    .threads = "a piece of work is a block of output rows of an image, and, where maps are small, some of its maps.",
    .cost =
        "terms() multiplications of bfloat16, 32 an instruction; padded inputs, and those of 1x1 filters with strides, "
        "are copied once.",
    .refuses = "numbers of channels or maps that are no multiple of 8, except of plain images; averages.",
    .limit = "multiplications of pairs: 24 of them for 14 loads.",
};

const RegisterConvKernel registered{half_conv_kernel<Bf16Unit::avx512_bf16>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_half_conv_dots
