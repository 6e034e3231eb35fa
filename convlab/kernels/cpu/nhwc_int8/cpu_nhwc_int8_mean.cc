// cpu.nhwc_int8_mean: global average pooling of quantized values, requantized with another scale.
// Threads: a work item is kChannels channels of an image.
// Not supported: layouts other than nhwc4.
// Limited by loads.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_op.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nhwc_int8_mean {
namespace {

constexpr int64_t kChannels = 256;
constexpr int64_t kMostPixels = INT32_MAX / 255;

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ByteMeanOp>(step.op)) return "only QLinearGlobalAveragePool on bytes is supported";
  if (pixels_of(step.inputs[0].shape) > kMostPixels) return "images must have fewer than 2^23 pixels";
  return refuse_unless_bytes(step);
}

void launch(const Args& args, Stream& stream) {
  const Shape& x = args.step.inputs[0].shape;
  const auto& op = std::get<ByteMeanOp>(args.step.op);
  const int64_t pixels = pixels_of(x), step = pixel_bytes(x[1]), parts = ceil_div(x[1], kChannels);
  const float factor = op.factor / static_cast<float>(pixels);
  const auto zero = static_cast<int32_t>(pixels * op.x_zero);
  stream.threads()->parallel_for(x[0] * parts, 1, [&](int64_t begin, int64_t end, int) {
    int32_t sums[kChannels];
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t image = piece / parts, first = piece % parts * kChannels, count = std::min(kChannels, x[1] - first);
      sum_pixels(byte_input(args, 0) + image * pixels * step + first, pixels, step, count, sums);
      uint8_t* const y = byte_output(args) + image * step + first;
      for (int64_t c = 0; c < count; ++c) y[c] = level_of(static_cast<float>(sums[c] - zero) * factor, rule_of(op));
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.nhwc_int8_mean",
             .device = DeviceKind::cpu,
             .family = Family::quantized,
             .math = Math::int8,
             .idea = "mean of each channel of quantized images, summed in int32"},
    .refuses = refuses,
    .launch = launch,
    .format = kNhwc4U8,
}};

}  // namespace
}  // namespace convlab::cpu_nhwc_int8_mean
