// Computes convolutions directly, in double: the reference that every other kernel is compared with (rung 0).

#include <algorithm>
#include <cmath>
#include <limits>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/registry.h"

namespace convlab::reference {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.reference",
    .device = DeviceKind::cpu,
    .math = Math::fp32,
    .rung = 0,
    .idea = "direct convolution: seven loops, summed in double; the reference",
    .threads = "A work item is one output channel of one image.",
    .cost = "C * R * S multiplications and additions in double, rounded to float once at the end.",
    .refuses = "Nothing: it computes every problem, epilogue and element type directly.",
    .limit = "Latency: each addition in double waits for the previous one.",
};

double pixel(const ConvStep& step, const void* x, int64_t index) {
  if (step.input_format == kRawPixels) return static_cast<const uint8_t*>(x)[index];
  return static_cast<const float*>(x)[index];
}

double convolved(const ConvArgs& args, int64_t n, int64_t k, int64_t p, int64_t q) {
  const ConvProblem& problem = args.step.problem;
  const int64_t channels = problem.channels_per_group();
  const int64_t first_channel = k / problem.maps_per_group() * channels;
  double sum = 0;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t r = 0; r < problem.r; ++r) {
      const int64_t h = p * problem.stride_h + r * problem.dilation_h - problem.pad_top;
      if (h < 0 || h >= problem.h) continue;
      for (int64_t s = 0; s < problem.s; ++s) {
        const int64_t w = q * problem.stride_w + s * problem.dilation_w - problem.pad_left;
        if (w < 0 || w >= problem.w) continue;
        sum += pixel(args.step, args.x, ((n * problem.c + first_channel + c) * problem.h + h) * problem.w + w) *
               args.w[((k * channels + c) * problem.r + r) * problem.s + s];
      }
    }
  }
  return args.step.epilogue.bias ? sum + args.bias[k] : sum;
}

double pooled(const ConvArgs& args, int64_t n, int64_t k, int64_t p, int64_t q) {
  if (!args.step.epilogue.pool) return convolved(args, n, k, p, q);
  const Pool& pool = *args.step.epilogue.pool;
  const int64_t height = args.step.problem.p(), width = args.step.problem.q();
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  int64_t inside = 0, window = 0;
  for (int64_t r = 0; r < pool.kernel_h; ++r) {
    for (int64_t s = 0; s < pool.kernel_w; ++s) {
      const int64_t h = p * pool.stride_h + r * pool.dilation_h - pool.pad_top;
      const int64_t w = q * pool.stride_w + s * pool.dilation_w - pool.pad_left;
      // With ceil_mode a window may reach beyond the padding. Positions there never count, even with count_include_pad.
      if (h < height + pool.pad_bottom && w < width + pool.pad_right) ++window;
      if (h < 0 || h >= height || w < 0 || w >= width) continue;
      const double value = convolved(args, n, k, h, w);
      if (!(value <= largest)) largest = value;  // true for NaN, too
      if (std::isnan(value)) return value;
      sum += value;
      ++inside;
    }
  }
  if (pool.kind == PoolKind::max) return largest;
  return sum / static_cast<double>(pool.count_include_pad ? window : inside);
}

double activated(const Activation& activation, double value) {
  switch (activation.kind) {
    case ActivationKind::none:
      return value;
    case ActivationKind::relu:
      return value < 0 ? 0 : value;
    case ActivationKind::leaky_relu:
      return value < 0 ? activation.alpha * value : value;
    case ActivationKind::clip:
      value = value < activation.alpha ? activation.alpha : value;
      return value > activation.beta ? activation.beta : value;
    case ActivationKind::sigmoid:
      return 1 / (1 + std::exp(-value));
    case ActivationKind::tanh:
      return std::tanh(value);
    case ActivationKind::swish:
      return value / (1 + std::exp(-value));
    case ActivationKind::hard_swish:
      return value * std::min(std::max(value + 3, 0.0), 6.0) / 6;
  }
  return value;
}

Refusal refuses(const ConvStep&, const DeviceCaps&) { return std::nullopt; }

void launch(const ConvArgs& args, Stream& stream) {
  const Shape shape = args.step.output_shape();
  const int64_t maps = shape[1], height = shape[2], width = shape[3];
  stream.threads()->parallel_for(shape[0] * maps, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t map = begin; map < end; ++map) {
      float* y = args.y + map * height * width;
      for (int64_t p = 0; p < height; ++p) {
        for (int64_t q = 0; q < width; ++q) {
          const double value = pooled(args, map / maps, map % maps, p, q);
          y[p * width + q] = static_cast<float>(activated(args.step.epilogue.activation, value));
        }
      }
    }
  });
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch>,
}};

}  // namespace
}  // namespace convlab::reference
