// cudnn.fp16: NVIDIA's library at its fastest: fp16 nhwc images, which its tensor-core engines
// read and write without reordering, and a fused epilogue.

#include <vector>

#include "convlab/base/checked.h"
#include "convlab/base/half.h"
#include "convlab/kernels/libraries/cudnn_session.h"
#include "convlab/kernels/registry.h"

namespace convlab::cudnn_fp16 {
namespace {

constexpr KernelInfo kInfo{
    .name = "cudnn.fp16",
    .device = DeviceKind::cuda,
    .math = Math::fp16,
    .repeat = Repeat::order_dependent,
    .sum = Sum::transform,
    .rung = 52,
    .library = true,
    .idea = "the library on fp16 nhwc, with bias, addition and activation fused",
    .after = "cudnn.tf32",
    .cost = "2 * C * R * S flops per output; inputs and outputs have 2 bytes per element.",
    .refuses = "Nchw layout, fused pooling, hard swish, and channels that are not a multiple of 8.",
    .limit =
        "Fusion: with a bias and ReLU its engines are precompiled; with other activations it compiles some at the "
        "first launch, and depthwise convolutions have fast engines only without fusion.",
};

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  const ConvProblem& problem = step.problem;
  if (step.input_format != kNhwcF16 || step.output_format != kNhwcF16) {
    return "input and output must be nhwc float16";
  }
  if (problem.c % kChannelLanes != 0 || problem.k % kChannelLanes != 0) return "channels must be a multiple of 8";
  if (step.epilogue.pool) return "fused pooling is not supported";
  if (step.epilogue.activation.kind == ActivationKind::hard_swish) return "hard swish is not supported";
  return std::nullopt;
}

/// Number of elements: filters, then the bias.
int64_t prepared_count(const ConvStep& step) {
  return checked_add(cudnn::rounded_bias_at(step.problem), step.epilogue.bias ? step.problem.k : 0);
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(checked_mul(prepared_count(step), 2));
}

std::vector<float> downloaded(Stream& stream, const float* from, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  stream.download(values.data(), from, values.size() * sizeof(float));
  stream.synchronize();
  return values;
}

void prepare(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  std::vector<uint16_t> halves(static_cast<size_t>(prepared_count(args.step)));
  const std::vector<float> filters = downloaded(stream, args.w, problem.filter_count());
  const int64_t channels = problem.channels_per_group(), taps = problem.r * problem.s;
  auto to = halves.begin();
  for (int64_t k = 0; k < problem.k; ++k) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t c = 0; c < channels; ++c) *to++ = float_to_half(filters[(k * channels + c) * taps + tap]);
    }
  }
  if (args.step.epilogue.bias) {
    to = halves.begin() + cudnn::rounded_bias_at(problem);
    for (const float bias : downloaded(stream, args.bias, problem.k)) *to++ = float_to_half(bias);
  }
  stream.upload(args.prepared, halves.data(), halves.size() * sizeof(uint16_t));
  stream.synchronize();
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<prepared_bytes>,
    .workspace_bytes = of_conv<cudnn::workspace_bytes>,
    .prepare = of_conv<prepare>,
    .launch = of_conv<cudnn::run<Math::fp16>>,
    .choice = of_conv<cudnn::choice<Math::fp16>>,
    .format = kNhwcF16,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab::cudnn_fp16
