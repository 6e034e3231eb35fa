// cpu.nhwc_bf16_reorder: converts nchw images to bf16 nhwc bfloat16 and back, and copies bf16 nhwc images
// into and out of joint arrays.
// Threads: a work item is kPixels pixels of an image.
// Refuses activations and other layouts.
// Limited by memory, and by loads and stores of single elements.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_rows.h"
#include "convlab/kernels/cpu/nhwc_bf16/halves.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nhwc_bf16_reorder {
namespace {

constexpr int64_t kPixels = 1024;

Refusal refuses(const Step& step, const DeviceCaps&) {
  const auto* op = std::get_if<ActivationOp>(&step.op);
  if (op == nullptr || op->activation.kind != ActivationKind::none) return "only copies are supported";
  if (step.inputs[0].format.order == Order::nchw && step.outputs[0].format.order == Order::nchw) {
    return "input or output must be nhwc bfloat16";
  }
  if (step.inputs[0].format == kRawPixels) return "input must be float32";
  if (!has_pixel_rows(step.outputs[0].shape)) return "channels must be a multiple of 8";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const int64_t channels = step.outputs[0].shape[1], pixels = step.outputs[0].shape[2] * step.outputs[0].shape[3],
                parts = ceil_div(pixels, kPixels);
  const int64_t x_step = input_pixel_step(step, 0), y_step = output_pixel_step(step);
  stream.threads()->parallel_for(step.outputs[0].shape[0] * parts, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t image = piece / parts, first = piece % parts * kPixels, count = std::min(kPixels, pixels - first);
      const int64_t plain = image * channels * pixels + first, pixel = image * pixels + first;
      if (step.inputs[0].format.order == Order::nchw) {
        maps_to_pixels(args.input(0) + plain, pixels, channels, count, half_output(args) + pixel * y_step, y_step,
                       channels);
      } else if (step.outputs[0].format.order == Order::nchw) {
        pixels_to_maps(half_input(args, 0) + pixel * x_step, x_step, channels, count, args.output() + plain, pixels);
      } else {
        for (int64_t i = pixel; i < pixel + count; ++i) {
          std::copy_n(half_input(args, 0) + i * x_step, channels, half_output(args) + i * y_step);
        }
      }
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.nhwc_bf16_reorder",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .math = Math::bf16,
             .idea = "converts nchw fp32 to nhwc bf16 and back, and copies nhwc into and out of concatenated arrays"},
    .refuses = refuses,
    .launch = launch,
    .format = kNhwcBf16,
}};

}  // namespace
}  // namespace convlab::cpu_nhwc_bf16_reorder
