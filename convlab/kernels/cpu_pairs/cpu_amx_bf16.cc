#include "convlab/kernels/cpu_pairs/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_amx_bf16 {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.amx_bf16",
    .device = DeviceKind::cpu,
    .math = Math::bf16,
    .rung = 5,
    .rank = 60,
    .idea = "tiles of 16 maps x 16 images multiplied at once, loaded where they lie",
    .after = "cpu.avx512_bf16",
    .threads = "a piece of work is a band of output rows of some maps of 16 images; pair_conv.cc shares them out.",
    .cost = "terms() multiplications of bfloat16, 8192 an instruction.",
    .refuses =
        "anything that does not lie in pairs, pooling other than maxima of 2x2, and processors or systems without AMX.",
    .limit = "tile multiplications where maps and terms are many; pooling and activation where terms are few.",
};

const RegisterConvKernel registered{pair_conv_kernel<kInfo.math, Bf16Unit::amx>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_amx_bf16
