// cpu.nhwc_int8_max_pool: max pooling of quantized values.
// Threads: a work item is a row of outputs.
// Not supported: average pooling, and layouts other than nhwc4.
// Limited by loads.

#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_op.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nhwc_int8_max_pool {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  const auto* op = std::get_if<PoolOp>(&step.op);
  if (op == nullptr || op->pool.kind != PoolKind::max) return "only MaxPool is supported";
  return refuse_unless_bytes(step);
}

void launch(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const Pool& pool = std::get<PoolOp>(step.op).pool;
  const int64_t height = step.inputs[0].shape[2], width = step.inputs[0].shape[3],
                pixel = pixel_bytes(step.outputs[0].shape[1]);
  const int64_t rows = step.outputs[0].shape[2], columns = step.outputs[0].shape[3];
  stream.threads()->parallel_for(step.outputs[0].shape[0] * rows, 1, [&](int64_t begin, int64_t end, int) {
    std::vector<const uint8_t*> window;
    for (int64_t row = begin; row < end; ++row) {
      const uint8_t* const x = byte_input(args, 0) + row / rows * height * width * pixel;
      uint8_t* y = byte_output(args) + row * columns * pixel;
      for (int64_t column = 0; column < columns; ++column, y += pixel) {
        window.clear();
        for (int64_t r = 0; r < pool.kernel_h; ++r) {
          const int64_t h = row % rows * pool.stride_h - pool.pad_top + r * pool.dilation_h;
          if (h < 0 || h >= height) continue;
          for (int64_t s = 0; s < pool.kernel_w; ++s) {
            const int64_t w = column * pool.stride_w - pool.pad_left + s * pool.dilation_w;
            if (w >= 0 && w < width) window.push_back(x + (h * width + w) * pixel);
          }
        }
        largest_levels(window, pixel, y);
      }
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.nhwc_int8_max_pool",
             .device = DeviceKind::cpu,
             .family = Family::quantized,
             .math = Math::int8,
             .idea = "max pooling of bytes: pointers to the pixels of a window, then vectors of channels"},
    .refuses = refuses,
    .launch = launch,
    .format = kNhwc4U8,
}};

}  // namespace
}  // namespace convlab::cpu_nhwc_int8_max_pool
