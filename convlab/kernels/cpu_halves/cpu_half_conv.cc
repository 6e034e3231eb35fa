#include "convlab/kernels/cpu_halves/half_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_half_conv {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.half_conv",
    .device = DeviceKind::cpu,
    .math = Math::bf16,
    .rung = 5,
    .rank = 60,
    .idea = "tiles of 16 pixels x 16 maps: a pixel's channels are a row, wherever filter and strides take it",
    .after = "cpu.channel_direct",
    .threads = "a piece of work is a block of output rows of an image, and, where maps are small, some of its maps.",
    .cost =
        "2 terms() float32 operations, of bfloat16 operands; padded inputs, and those of 1x1 filters with strides, are "
        "copied once.",
    .refuses = "numbers of channels or maps that are no multiple of 8, except of plain images; averages.",
    .limit = "multiply-adds: it is for processors without the instructions of the others, and to check these against.",
};

const RegisterConvKernel registered{half_conv_kernel<Bf16Unit::vectors>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_half_conv
