// cuda.activation: applies an activation, or rounding to fp16, to every element. With activation `none`, it converts
// uint8 pixels to fp32. One thread per element, grid-stride.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/ops/activation.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 65536;

template <class Element>
__global__ void __launch_bounds__(kThreads)
    apply_activation(const Element* x, float* y, int64_t count, Activation activation) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (int64_t i = first; i < count; i += static_cast<int64_t>(gridDim.x) * kThreads) {
    y[i] = activated(activation, static_cast<float>(x[i]));
  }
}

__global__ void __launch_bounds__(kThreads) round_to_half(const float* x, float* y, int64_t count) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (int64_t i = first; i < count; i += static_cast<int64_t>(gridDim.x) * kThreads) {
    y[i] = __half2float(__float2half_rn(x[i]));
  }
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  const auto* round = std::get_if<RoundOp>(&step.op);
  if (std::holds_alternative<ActivationOp>(step.op) || (round != nullptr && !round->brain)) return std::nullopt;
  return "only activations and rounding to float16 are supported";
}

void launch_activation(const Args& args, Stream& stream) {
  const int64_t count = element_count(args.step.outputs[0].shape);
  if (count == 0) return;
  const LaunchShape shape{.grid = dim3(std::min(ceil_div(count, kThreads), kMostBlocks)), .block = kThreads};
  const auto* op = std::get_if<ActivationOp>(&args.step.op);
  if (op == nullptr) {
    launch(round_to_half, shape, stream.native(), args.input(0), args.output(), count);
  } else if (args.step.inputs[0].format == kRawPixels) {
    launch(apply_activation<uint8_t>, shape, stream.native(), args.input<uint8_t>(0), args.output(), count,
           op->activation);
  } else {
    launch(apply_activation<float>, shape, stream.native(), args.input(0), args.output(), count, op->activation);
  }
}

const RegisterKernel registered{{
    .info = {.name = "cuda.activation",
             .device = kCompiledFor,
             .family = Family::elementwise,
             .idea = "an activation, or rounding to fp16, of each element; also converts uint8 pixels to fp32"},
    .refuses = refuses,
    .launch = launch_activation,
}};

}  // namespace
}  // namespace convlab
