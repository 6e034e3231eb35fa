// cpu.nhwc_bf16_conv_amx: convolution of bf16 nhwc images with AMX.

#include "convlab/kernels/cpu/nhwc_bf16/half_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nhwc_bf16_conv_amx {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nhwc_bf16_conv_amx",
    .device = DeviceKind::cpu,
    .math = Math::bf16,
    .rung = 5,
    .idea = "bf16 tiles multiplied by AMX",
    .after = "cpu.nhwc_bf16_conv",
    .threads =
        "A work item is a block of output rows of an image and, if images are small, a range of output channels.",
    .cost =
        "C * R * S bf16 multiplications, 8192 per instruction; padded inputs, inputs of strided 1x1 filters, and "
        "inputs of strided filters on narrow images are copied once.",
    .refuses = "Channels that are not a multiple of 8 (except of nchw input), and fused average pooling.",
    .limit = "Tile multiplications with many channels; the epilogue with few.",
};

const RegisterKernel registered{half_conv_kernel<Bf16Unit::amx>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_nhwc_bf16_conv_amx
