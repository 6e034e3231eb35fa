// cpu.nchw8c_global_average_pool: computes the mean of each channel of nchw8c images; also ReduceMean over height and
// width.
// Threads: a work item is 8 blocks of 8 channels; sums are in double.
// Not supported: layouts other than nchw8c, and results that are not {n, c, 1, 1}.
// Limited by conversions to double.

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nchw8c/channel_op.h"
#include "convlab/kernels/cpu/nchw8c/pool_block.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw8c_global_average_pool {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!is_mean_of_maps(step)) return "only global average pooling is supported";
  Step in_lanes = step;  // with one pixel per image, nchw and nchw8c are the same
  in_lanes.outputs[0].format = kNchw8c;
  return refuse_unless_channel_lanes(in_lanes);
}

void launch(const Args& args, Stream& stream) {
  const Shape& x = args.step.inputs[0].shape;
  const int64_t blocks = x[1] / kChannelLanes;
  const BlockPool mean = block_mean(x[2] * x[3]);
  stream.threads()->parallel_for(x[0] * blocks, 8, [&](int64_t begin, int64_t end, int) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t image = piece / blocks, block = piece % blocks;
      pool_block(mean, args.input(0) + image * input_image_step(args.step, 0) + block * x[2] * x[3] * kChannelLanes, 0,
                 1, args.output() + image * output_image_step(args.step) + block * kChannelLanes);
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.nchw8c_global_average_pool",
             .device = DeviceKind::cpu,
             .family = Family::pooling,
             .idea = "mean of each channel of nchw8c images, 8 channels at a time, in double"},
    .refuses = refuses,
    .launch = launch,
    .format = kNchw8c,
}};

}  // namespace
}  // namespace convlab::cpu_nchw8c_global_average_pool
