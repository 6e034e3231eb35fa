// cpu.nhwc_int8_reorder: converts between nchw and nhwc4: QuantizeLinear, DequantizeLinear, and copies of arrays
// that hold quantized values in both layouts.
// Threads: a work item is kPixels pixels of an image.
// Not supported: more than one scale, activations, and other layouts.
// Limited by memory; with more than 4 channels, by loads and stores of single elements.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_op.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nhwc_int8_reorder {
namespace {

constexpr int64_t kPixels = 4096;

Refusal refuses(const Step& step, const DeviceCaps&) {
  const auto* copy = std::get_if<ActivationOp>(&step.op);
  const auto* quantize = std::get_if<QuantizeOp>(&step.op);
  const auto* dequantize = std::get_if<DequantizeOp>(&step.op);
  const bool to_bytes = step.inputs[0].format.order == Order::nchw && step.outputs[0].format == kNhwc4U8;
  const bool from_bytes = step.inputs[0].format == kNhwc4U8 && step.outputs[0].format.order == Order::nchw;
  if (!to_bytes && !from_bytes) return "one of input and output must be nhwc4 uint8 and the other nchw";
  const bool copies = copy != nullptr && copy->activation.kind == ActivationKind::none;
  if (!copies && !(to_bytes && quantize != nullptr) && !(from_bytes && dequantize != nullptr)) {
    return "only QuantizeLinear, DequantizeLinear and copies are supported";
  }
  if (step.inputs[0].format == kRawPixels) return "input must be float32";
  if (step.outputs[0].shape.size() != 4 && step.outputs[0].shape.size() != 2)
    return "output must be 2- or 4-dimensional";
  if (quantize != nullptr && (quantize->low < 0 || quantize->high > 255)) {
    return "quantized values must be between 0 and 255";
  }
  for (size_t i = 1; i < step.inputs.size(); ++i) {
    if (element_count(step.inputs[i].shape) != 1) return "scale and zero point must be scalars";
  }
  return std::nullopt;
}

/// The scale and zero point, as a LevelRule.
struct Steps {
  float scale = 1;
  LevelRule rule;

  explicit Steps(const Args& args) {
    if (args.inputs.size() > 1) scale = *args.input(1);
    if (args.inputs.size() > 2) rule.zero = static_cast<int>(*args.input(2));
    if (const auto* op = std::get_if<QuantizeOp>(&args.step.op)) rule.low = op->low, rule.high = op->high;
  }
};

void launch(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const Shape& shape = step.outputs[0].shape;
  const bool to_bytes = step.outputs[0].format == kNhwc4U8;
  const int64_t channels = shape[1], pixels = pixels_of(shape), pixel = pixel_bytes(channels);
  const int64_t parts = ceil_div(pixels, kPixels);
  const Steps steps(args);
  stream.threads()->parallel_for(shape[0] * parts, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t image = piece / parts, first = piece % parts * kPixels, count = std::min(kPixels, pixels - first);
      const int64_t plain = image * channels * pixels + first, bytes = (image * pixels + first) * pixel;
      if (to_bytes && channels <= kChannelBytes) {
        quantize_planes(args.input(0) + plain, pixels, channels, count, steps.scale, steps.rule,
                        byte_output(args) + bytes);
        continue;
      }
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t map = plain + c * pixels, at = bytes + c;
        if (to_bytes) {
          uint8_t* const y = byte_output(args) + at;
          for (int64_t i = 0; i < count; ++i) y[i * pixel] = level_of(args.input(0)[map + i] / steps.scale, steps.rule);
        } else {
          const uint8_t* const x = byte_input(args, 0) + at;
          float* const y = args.output() + map;
          for (int64_t i = 0; i < count; ++i) y[i] = static_cast<float>(x[i * pixel] - steps.rule.zero) * steps.scale;
        }
      }
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.nhwc_int8_reorder",
             .device = DeviceKind::cpu,
             .family = Family::quantized,
             .math = Math::int8,
             .idea = "quantizes or dequantizes while it converts between nchw and nhwc4"},
    .refuses = refuses,
    .launch = launch,
    .format = kNhwc4U8,
}};

}  // namespace
}  // namespace convlab::cpu_nhwc_int8_reorder
