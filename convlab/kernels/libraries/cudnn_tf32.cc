// cudnn.tf32: NVIDIA's library, allowed to round fp32 operands to TF32.

#include "convlab/kernels/libraries/cudnn_session.h"
#include "convlab/kernels/registry.h"

namespace convlab::cudnn_tf32 {
namespace {

constexpr KernelInfo kInfo{
    .name = "cudnn.tf32",
    .device = DeviceKind::cuda,
    .math = Math::tf32,
    .repeat = Repeat::order_dependent,
    .sum = Sum::transform,
    .rung = 51,
    .library = true,
    .idea = "the library, allowed to round operands to TF32",
    .after = "cudnn",
    .refuses = "As cudnn.",
    .limit = "Engines chosen for many channels, as cudnn.",
};

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<cudnn::refuse_unless_plain_arrays>,
    .workspace_bytes = of_conv<cudnn::workspace_bytes>,
    .launch = of_conv<cudnn::run<Math::tf32>>,
    .choice = of_conv<cudnn::choice<Math::tf32>>,
}};

}  // namespace
}  // namespace convlab::cudnn_tf32
