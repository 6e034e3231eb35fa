// cpu.nchw8c_concat: concatenates nchw8c images along their channels, by copying.
// Threads: a work item is one block of 8 channels of one image.
// Not supported: other axes, constants, and inputs or outputs that are not nchw8c.
// Limited by memory bandwidth.

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nchw8c/channel_op.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw8c_concat {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  const auto* op = std::get_if<ConcatOp>(&step.op);
  if (op == nullptr || (op->axis != 1 && op->axis != -3)) return "only Concat along channels is supported";
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (is_constant(step, i)) return "constant inputs are not supported";
    if (!has_channel_lanes(step.inputs[i].shape)) return "channels must be a multiple of 8";
  }
  return refuse_unless_channel_lanes(step);
}

void launch(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const int64_t blocks = step.outputs[0].shape[1] / kChannelLanes,
                size = step.outputs[0].shape[2] * step.outputs[0].shape[3] * kChannelLanes;
  stream.threads()->parallel_for(step.outputs[0].shape[0] * blocks, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t image = piece / blocks;
      int64_t block = piece % blocks;
      float* const y = args.output() + image * output_image_step(step) + block * size;
      size_t input = 0;
      for (; block >= step.inputs[input].shape[1] / kChannelLanes; ++input)
        block -= step.inputs[input].shape[1] / kChannelLanes;
      std::copy_n(args.input(input) + image * input_image_step(step, input) + block * size, size, y);
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.nchw8c_concat",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "concatenates nchw8c images by copying blocks of 8 channels"},
    .refuses = refuses,
    .launch = launch,
    .format = kNchw8c,
}};

}  // namespace
}  // namespace convlab::cpu_nchw8c_concat
