// cpu.nhwc_bf16_scale: per-channel scale and shift of bf16 nhwc images: Mul and Add with a plain input {n, c, 1, 1},
// {1, c, 1, 1} or {c, 1, 1}, and BatchNormalization, with an activation that is a clamp. Threads: a work item is
// kPixels pixels of an image. Refuses other shapes, and images that are not bf16 nhwc. Limited by memory.

#include <algorithm>
#include <cmath>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nchw8c/channel_op.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_scale.h"
#include "convlab/kernels/cpu/nhwc_bf16/halves.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nhwc_bf16_scale {
namespace {

constexpr int64_t kPixels = 256;

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_scales_channels(step)) return refusal;
  return refuse_unless_rows(step, kNhwcBf16);
}

void launch(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const int64_t channels = step.outputs[0].shape[1], pixels = step.outputs[0].shape[2] * step.outputs[0].shape[3],
                parts = ceil_div(pixels, kPixels);
  const auto* norm = std::get_if<BatchNormOp>(&step.op);
  const bool adds = std::holds_alternative<AddOp>(step.op);
  const size_t numbers = norm ? 1 : channel_input(step), images = norm ? 0 : 1 - numbers;
  const bool by_image = !is_constant(step, numbers) && !norm;
  std::vector<float> zeros(static_cast<size_t>(channels), 0.0f), factors(zeros.size(), 1.0f);
  const std::vector<float> minus_zeros(zeros.size(), -0.0f);  // x - 0 and x + -0 are x, including x = -0
  for (size_t c = 0; norm && c < factors.size(); ++c) {
    const double deviation = std::sqrt(static_cast<double>(args.input(4)[c]) + norm->epsilon);
    factors[c] = static_cast<float>(args.input(1)[c] / deviation);
  }
  HalfScale all{.channels = channels,
                .x_step = input_pixel_step(step, images),
                .minus = norm ? args.input(3) : zeros.data(),
                .factor = factors.data(),
                .plus = norm ? args.input(2) : minus_zeros.data(),
                .clamp = *clamp_of(step.epilogue.activation),
                .y_step = output_pixel_step(step)};
  stream.threads()->parallel_for(step.outputs[0].shape[0] * parts, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t image = piece / parts, first = piece % parts * kPixels, at = image * pixels + first;
      HalfScale scale = all;
      if (!norm) (adds ? scale.plus : scale.factor) = args.input(numbers) + (by_image ? image * channels : 0);
      scale.pixels = std::min(kPixels, pixels - first);
      scale.x = half_input(args, images) + at * scale.x_step;
      scale.y = half_output(args) + at * scale.y_step;
      scale_pixels(scale);
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.nhwc_bf16_scale",
             .device = DeviceKind::cpu,
             .family = Family::elementwise,
             .math = Math::bf16,
             .idea = "scale and shift of each channel of bf16 nhwc images, computed in fp32, with a clamp fused"},
    .refuses = refuses,
    .launch = launch,
    .format = kNhwcBf16,
    .fuses_activation = true,
}};

}  // namespace
}  // namespace convlab::cpu_nhwc_bf16_scale
