// cpu.nhwc_bf16_conv_dots: convolution of bf16 nhwc images with AVX512-BF16.

#include "convlab/kernels/cpu/nhwc_bf16/half_conv.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nhwc_bf16_conv_dots {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nhwc_bf16_conv_dots",
    .device = DeviceKind::cpu,
    .math = Math::bf16,
    .rung = 5,
    .idea = "12 pixels x 32 output channels in registers, pairs of channels multiplied by VDPBF16PS",
    .after = "cpu.nhwc_bf16_conv",
    .threads =
        "A work item is a block of output rows of an image and, if images are small, a range of output channels.",
    .cost =
        "C * R * S bf16 multiplications, 32 per instruction; padded inputs, and inputs of strided 1x1 filters, are "
        "copied once.",
    .refuses = "Channels that are not a multiple of 8 (except of nchw input), and fused average pooling.",
    .limit = "VDPBF16PS: 24 for 14 loads.",
};

const RegisterKernel registered{half_conv_kernel<Bf16Unit::avx512_bf16>(kInfo)};

}  // namespace
}  // namespace convlab::cpu_nhwc_bf16_conv_dots
