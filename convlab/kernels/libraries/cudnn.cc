// cudnn: NVIDIA's library, the baseline of every claim, in fp32: tensor cores are forbidden to it.
// Which of its algorithms is the fastest is searched at the first launch of a problem on a stream (a warm-up's, when
// timed); later launches repeat it. The library is loaded when the kernel is first used; without it the kernel says so.
// Refuses: epilogues, images of bytes, padding that differs between opposite sides.
// Limited by choices made for many channels: these networks have 1 and 12.

#include "convlab/kernels/libraries/cudnn_library.h"

namespace convlab {
namespace {

const RegisterConvKernel registered{{
    .info = {.name = "cudnn",
             .device = DeviceKind::cuda,
             .math = Math::fp32,
             .repeat = Repeat::order_dependent,
             .sum = Sum::transform,
             .rung = 30,
             .idea = "the library, its algorithm searched once",
             .after = ""},
    .refuses = cudnn::refuses,
    .workspace_bytes = cudnn::workspace_bytes,
    .launch = [](const ConvArgs& args, Stream& stream) { cudnn::run(args, stream, Math::fp32); },
    .choice = [](const ConvStep& step, Stream& stream) { return cudnn::choice(step, stream, Math::fp32); },
}};

}  // namespace
}  // namespace convlab
