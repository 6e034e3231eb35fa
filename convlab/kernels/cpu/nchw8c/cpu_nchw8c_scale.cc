// cpu.nchw8c_scale: multiplies each channel of nchw8c images by a value of its own, adds such a value, or both: Mul
// and Add with an input {n, c, 1, 1}, {1, c, 1, 1} or {c, 1, 1}, and BatchNormalization, with a clamp as activation.
// Threads: a work item is one or more blocks of 8 channels.
// Not supported: other shapes, and inputs or outputs that are not nchw8c.
// Limited by memory bandwidth.

#include <array>
#include <cmath>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nchw8c/channel_op.h"
#include "convlab/kernels/cpu/nchw8c/scaled_block.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw8c_scale {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_scales_channels(step)) return refusal;
  if (step.inputs[0].format != kNchw8c || step.outputs[0].format != kNchw8c) {
    return "input and output must be nchw8c";
  }
  if (!has_channel_lanes(step.outputs[0].shape)) return "channels must be a multiple of 8";
  return std::nullopt;
}

using Eight = std::array<float, kChannelLanes>;

constexpr Eight all(float value) {
  Eight eight{};
  eight.fill(value);
  return eight;
}
constexpr Eight kZero = all(0), kOne = all(1), kMinusZero = all(-0.0f);  // x - 0 and x + -0 equal x, even if x is -0

void launch(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const Shape& shape = step.outputs[0].shape;
  const int64_t blocks = shape[1] / kChannelLanes, pixels = shape[2] * shape[3];
  const auto* norm = std::get_if<BatchNormOp>(&step.op);
  const size_t numbers = norm ? 1 : channel_input(step), images = norm ? 0 : 1 - numbers;
  const bool by_image = !is_constant(step, numbers) && !norm;
  const Clamp clamp = *clamp_of(step.epilogue.activation);
  stream.threads()->parallel_for(shape[0] * blocks, blocks_at_a_time(pixels), [&](int64_t begin, int64_t end, int) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t image = piece / blocks, block = piece % blocks, channel = block * kChannelLanes;
      const float* const x =
          args.input(images) + image * input_image_step(step, images) + block * pixels * kChannelLanes;
      float* const y = args.output() + image * output_image_step(step) + block * pixels * kChannelLanes;
      if (norm) {
        const float *scale = args.input(1) + channel, *variance = args.input(4) + channel;
        Eight factor;
        for (size_t i = 0; i < factor.size(); ++i) {
          factor[i] = static_cast<float>(scale[i] / std::sqrt(static_cast<double>(variance[i]) + norm->epsilon));
        }
        scale_block(x, args.input(3) + channel, factor.data(), args.input(2) + channel, clamp, pixels, y);
        continue;
      }
      const float* const own = args.input(numbers) + (by_image ? image * input_image_step(step, numbers) : 0) + channel;
      const bool adds = std::holds_alternative<AddOp>(step.op);
      scale_block(x, kZero.data(), adds ? kOne.data() : own, adds ? own : kMinusZero.data(), clamp, pixels, y);
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.nchw8c_scale",
             .device = DeviceKind::cpu,
             .family = Family::elementwise,
             .idea = "scale and shift of each channel of nchw8c images, with a clamp fused"},
    .refuses = refuses,
    .launch = launch,
    .format = kNchw8c,
    .fuses_activation = true,
}};

}  // namespace
}  // namespace convlab::cpu_nchw8c_scale
