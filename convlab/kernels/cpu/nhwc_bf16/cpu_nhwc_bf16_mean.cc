// cpu.nhwc_bf16_mean: global average pooling of bf16 nhwc images to plain fp32; also ReduceMean over height and width.
// Threads: a work item is kChannels channels of an image.
// Refuses results that are not {n, c, 1, 1}.
// Limited by loads.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nchw8c/channel_op.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_windows.h"
#include "convlab/kernels/cpu/nhwc_bf16/halves.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nhwc_bf16_mean {
namespace {

constexpr int64_t kChannels = 64;

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!is_mean_of_maps(step)) return "only global average pooling is supported";
  return refuse_unless_from_rows(step, kNhwcBf16);
}

void launch(const Args& args, Stream& stream) {
  const Shape& x = args.step.inputs[0].shape;
  const int64_t parts = ceil_div(x[1], kChannels), pixels = x[2] * x[3];
  const BlockPool mean = block_mean(pixels);
  const int64_t x_step = input_pixel_step(args.step, 0);
  stream.threads()->parallel_for(x[0] * parts, 2, [&](int64_t begin, int64_t end, int) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t image = piece / parts, first = piece % parts * kChannels;
      HalfWindows windows{.pool = mean, .channels = std::min(kChannels, x[1] - first), .count = 1};
      windows.x_step = x_step;
      windows.x = half_input(args, 0) + image * pixels * x_step + first;
      windows.plain = args.output() + image * x[1] + first;
      compute_windows(windows);
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.nhwc_bf16_mean",
             .device = DeviceKind::cpu,
             .family = Family::pooling,
             .math = Math::bf16,
             .idea = "mean of each channel of bf16 nhwc images, to fp32"},
    .refuses = refuses,
    .launch = launch,
    .format = kNhwcBf16,
}};

}  // namespace
}  // namespace convlab::cpu_nhwc_bf16_mean
