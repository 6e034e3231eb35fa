#include "convlab/kernels/cpu_pairs/pair_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_pairs_bf16 {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.pairs_bf16",
    .device = DeviceKind::cpu,
    .math = Math::bf16,
    .rung = 5,
    .idea = "pairs of bfloat16: half the memory, on any processor",
    .after = "cpu.image_lanes",
    .threads = "a piece of work is a band of output rows of some maps of 16 images; pair_conv.cc shares them out.",
    .cost = "terms() multiplications of bfloat16, each as a float32 multiply-add.",
    .refuses = "anything that does not lie in pairs, and pooling other than maxima of 2x2.",
    .limit = "multiply-adds, and the broadcast of each weight.",
};

const RegisterConvKernel registered{pair_conv_kernel<kInfo.math, Bf16Unit::vectors>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_pairs_bf16
