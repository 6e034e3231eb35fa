// cudnn: NVIDIA's library in fp32, without tensor cores: the baseline of every claim. It is called through its graph
// API: heuristics propose engines for a step, and the first launch of a step on a stream (a warm-up launch, when timed)
// searches for the fastest; later launches reuse it. The library is loaded when the kernel is first used; if it is
// missing, the kernel reports it.

#include "convlab/kernels/libraries/cudnn_session.h"
#include "convlab/kernels/registry.h"

namespace convlab::cudnn {
namespace {

constexpr KernelInfo kInfo{
    .name = "cudnn",
    .device = DeviceKind::cuda,
    .math = Math::fp32,
    .repeat = Repeat::order_dependent,
    .sum = Sum::transform,
    .rung = 50,
    .library = true,
    .idea = "the library, its engine searched once",
    .refuses = "Fused epilogues other than a bias, or a bias and ReLU; and uint8 input.",
    .limit = "Engines chosen for many channels: these networks have 1 and 12.",
};

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<cudnn::refuse_unless_plain_arrays>,
    .workspace_bytes = of_conv<cudnn::workspace_bytes>,
    .launch = of_conv<cudnn::run<Math::fp32>>,
    .choice = of_conv<cudnn::choice<Math::fp32>>,
}};

}  // namespace
}  // namespace convlab::cudnn
