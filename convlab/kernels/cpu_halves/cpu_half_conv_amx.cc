#include "convlab/kernels/cpu_halves/half_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_half_conv_amx {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.half_conv_amx",
    .device = DeviceKind::cpu,
    .math = Math::bf16,
    .rung = 5,
    .rank = 62,
    .idea = "the tiles are the processor's own",
    .after = "cpu.half_conv",
    .threads = "a piece of work is a block of output rows of an image, and, where maps are small, some of its maps.",
    .cost =
        "terms() multiplications of bfloat16, 8192 an instruction; padded inputs, those of 1x1 filters with "
        "strides, and those of strided filters of narrow maps are copied once.",
    .refuses = "numbers of channels or maps that are no multiple of 8, except of plain images; averages.",
    .limit = "tile multiplications where channels are many; the ends of sums where they are few.",
};

const RegisterConvKernel registered{half_conv_kernel<Bf16Unit::amx>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_half_conv_amx
