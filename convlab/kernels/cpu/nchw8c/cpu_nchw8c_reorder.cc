// cpu.nchw8c_reorder: converts images from nchw to nchw8c and back.
// Threads: a work item is kPixels pixels of one block of 8 channels of one image.
// Not supported: activations, and other layouts.
// Limited by memory bandwidth.

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nchw8c/channel_op.h"
#include "convlab/kernels/cpu/simd/lane_order.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw8c_reorder {
namespace {

constexpr int64_t kPixels = 2048;

Refusal refuses(const Step& step, const DeviceCaps&) {
  const auto* op = std::get_if<ActivationOp>(&step.op);
  if (op == nullptr || op->activation.kind != ActivationKind::none) return "only copies are supported";
  const bool to_lanes = step.inputs[0].format.order == Order::nchw && step.outputs[0].format == kNchw8c;
  const bool from_lanes = step.inputs[0].format == kNchw8c && step.outputs[0].format.order == Order::nchw;
  if (!to_lanes && !from_lanes) return "one of input and output must be nchw8c and the other nchw";
  if (step.inputs[0].format == kRawPixels) return "input must be float32";
  if (!has_channel_lanes(step.outputs[0].shape)) return "channels must be a multiple of 8";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const Shape& shape = step.outputs[0].shape;
  const bool to_lanes = step.outputs[0].format == kNchw8c;
  const int64_t blocks = shape[1] / kChannelLanes, pixels = shape[2] * shape[3], parts = ceil_div(pixels, kPixels);
  stream.threads()->parallel_for(shape[0] * blocks * parts, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t image = piece / parts / blocks, block = piece / parts % blocks * kChannelLanes * pixels;
      const int64_t first = piece % parts * kPixels, count = std::min(kPixels, pixels - first);
      const float* const x = args.input(0) + image * input_image_step(step, 0) + block;
      float* const y = args.output() + image * output_image_step(step) + block;
      if (to_lanes) {
        maps_to_lanes(x + first, pixels, count, y + first * kChannelLanes);
      } else {
        lanes_to_maps(x + first * kChannelLanes, count, y + first, pixels);
      }
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.nchw8c_reorder",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "converts nchw to nchw8c and back by transposing blocks of 8 channels"},
    .refuses = refuses,
    .launch = launch,
    .format = kNchw8c,
}};

}  // namespace
}  // namespace convlab::cpu_nchw8c_reorder
