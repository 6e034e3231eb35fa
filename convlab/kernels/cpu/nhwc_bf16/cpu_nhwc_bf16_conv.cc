// cpu.nhwc_bf16_conv: convolution of bf16 nhwc images in plain vector instructions.

#include "convlab/kernels/cpu/nhwc_bf16/half_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nhwc_bf16_conv {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nhwc_bf16_conv",
    .device = DeviceKind::cpu,
    .math = Math::bf16,
    .rung = 5,
    .idea = "bf16 tiles of 16 pixels x 16 output channels, in plain vector instructions",
    .after = "cpu.nchw8c_direct",
    .threads =
        "A work item is a block of output rows of an image and, if images are small, a range of output channels.",
    .cost =
        "2 * C * R * S fp32 operations on bf16 operands; padded inputs, and inputs of strided 1x1 filters, are copied "
        "once.",
    .refuses = "Channels that are not a multiple of 8 (except of nchw input), and fused average pooling.",
    .limit =
        "Multiply-adds: this kernel is for processors without AMX and AVX512-BF16, and a reference for the kernels "
        "that use them.",
};

const RegisterKernel registered{half_conv_kernel<Bf16Unit::vectors>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_nhwc_bf16_conv
