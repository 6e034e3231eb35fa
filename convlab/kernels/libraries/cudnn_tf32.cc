// cudnn.tf32: NVIDIA's library, allowed to round operands to TF32 for the tensor cores; otherwise as cudnn.cc.

#include "convlab/kernels/libraries/cudnn_library.h"

namespace convlab {
namespace {

const RegisterConvKernel registered{{
    .info = {.name = "cudnn.tf32",
             .device = DeviceKind::cuda,
             .math = Math::tf32,
             .repeat = Repeat::order_dependent,
             .sum = Sum::transform,
             .rung = 31,
             .idea = "the library, allowed to round operands to TF32",
             .after = "cudnn"},
    .refuses = cudnn::refuses,
    .workspace_bytes = cudnn::workspace_bytes,
    .launch = [](const ConvArgs& args, Stream& stream) { cudnn::run(args, stream, Math::tf32); },
    .choice = [](const ConvStep& step, Stream& stream) { return cudnn::choice(step, stream, Math::tf32); },
}};

}  // namespace
}  // namespace convlab
