// cpu.activation: applies an activation to each element. With activation `none` and uint8 input, converts pixels to
// fp32.
// Threads: a work item is kPiece elements.
// Supports every case of its operator.
// Limited by memory bandwidth, except for sigmoid and tanh.

#include <algorithm>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/simd/vector_epilogue.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_activation {
namespace {

constexpr int64_t kPiece = 8192;  // 32 KiB: the copied elements are still in L1 when the activation is applied

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ActivationOp>(step.op)) return "only activations are supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const Activation& activation = std::get<ActivationOp>(args.step.op).activation;
  const bool pixels = args.step.inputs[0].format == kRawPixels;
  const float* x = args.input(0);
  const auto* bytes = args.input<uint8_t>(0);
  stream.threads()->parallel_for(element_count(args.step.outputs[0].shape), kPiece,
                                 [&](int64_t begin, int64_t end, int) {
                                   if (pixels) {
                                     for (int64_t i = begin; i < end; ++i) args.output()[i] = bytes[i];
                                   } else {
                                     std::copy(x + begin, x + end, args.output() + begin);
                                   }
                                   activate(activation, args.output() + begin, end - begin);
                                 });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.activation",
             .device = DeviceKind::cpu,
             .family = Family::elementwise,
             .idea = "copies a block of elements and applies the activation in L1; also converts uint8 pixels to fp32"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_activation
