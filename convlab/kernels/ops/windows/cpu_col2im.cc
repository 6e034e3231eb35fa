// cpu.col2im: adds blocks of pixels to images, where they overlap.
// Threads: a work item is a channel of an image. It adds one pixel of all blocks after the other, so the order of
// additions does not depend on the number of threads.
// Supports every case of its operator.
// Limited by memory bandwidth.

#include <algorithm>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/ops/windows/steps_inside.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_col2im {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<Col2ImOp>(step.op)) return "only Col2Im is supported";
  return std::nullopt;
}

/// `x`: for each pixel of a block, its value at each block position.
void add_blocks(const Col2ImOp& op, const float* x, float* image) {
  const int64_t rows = op.rows(), columns = op.columns();
  for (int64_t pixel = 0; pixel < op.block_h * op.block_w; ++pixel, x += rows * columns) {
    const int64_t h = pixel / op.block_w * op.dilation_h - op.pad_top;
    const int64_t w = pixel % op.block_w * op.dilation_w - op.pad_left;
    const Inside p(h, op.stride_h, rows, op.image_h), q(w, op.stride_w, columns, op.image_w);
    for (int64_t row = p.first; row < p.last; ++row) {
      float* to = image + (h + row * op.stride_h) * op.image_w + w;
      for (int64_t column = q.first; column < q.last; ++column) to[column * op.stride_w] += x[row * columns + column];
    }
  }
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<Col2ImOp>(args.step.op);
  const Shape &x = args.step.inputs[0].shape, &y = args.step.outputs[0].shape;
  const int64_t block = x[1] / y[1] * x[2], pixels = y[2] * y[3];
  stream.threads()->parallel_for(y[0] * y[1], 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t map = begin; map < end; ++map) {
      std::fill_n(args.output() + map * pixels, pixels, 0.0f);
      add_blocks(op, args.input(0) + map * block, args.output() + map * pixels);
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.col2im",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "adds overlapping blocks to an image, one of a block's pixels after the other, for each channel"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_col2im
