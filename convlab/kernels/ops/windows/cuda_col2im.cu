// cuda.col2im: adds blocks of pixels to images, where they overlap. One thread per output pixel, grid-stride, which
// sums what the blocks over it have for it, in the order of a block's pixels.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 65536;

struct Blocks {
  Col2ImOp op;
  int64_t rows = 0, columns = 0;
};

/// Returns the position, of `count`, at which a block's pixel `at` elements after its first one falls on this
/// coordinate of the padded image, or -1.
__device__ int64_t position(int64_t coordinate, int64_t at, int64_t stride, int64_t count) {
  const int64_t first = coordinate - at;
  return first < 0 || first % stride != 0 || first / stride >= count ? -1 : first / stride;
}

__global__ void __launch_bounds__(kThreads) sum_blocks(const float* x, float* y, int64_t count, Blocks blocks) {
  const Col2ImOp& op = blocks.op;
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (int64_t i = begin; i < count; i += static_cast<int64_t>(gridDim.x) * kThreads) {
    const int64_t w = i % op.image_w, h = i / op.image_w % op.image_h, map = i / op.image_w / op.image_h;
    const float* own = x + map * op.block_h * op.block_w * blocks.rows * blocks.columns;
    float sum = 0;
    for (int64_t r = 0; r < op.block_h; ++r) {
      const int64_t p = position(h + op.pad_top, r * op.dilation_h, op.stride_h, blocks.rows);
      for (int64_t s = 0; p >= 0 && s < op.block_w; ++s) {
        const int64_t q = position(w + op.pad_left, s * op.dilation_w, op.stride_w, blocks.columns);
        if (q >= 0) sum += own[((r * op.block_w + s) * blocks.rows + p) * blocks.columns + q];
      }
    }
    y[i] = sum;
  }
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<Col2ImOp>(step.op)) return "only Col2Im is supported";
  return std::nullopt;
}

void launch_sum(const Args& args, Stream& stream) {
  const auto& op = std::get<Col2ImOp>(args.step.op);
  const int64_t count = element_count(args.step.outputs[0].shape);
  if (count == 0) return;
  launch(sum_blocks, {.grid = dim3(std::min(ceil_div(count, kThreads), kMostBlocks)), .block = kThreads},
         stream.native(), args.input(0), args.output(), count, Blocks{op, op.rows(), op.columns()});
}

const RegisterKernel registered{{
    .info = {.name = "cuda.col2im",
             .device = kCompiledFor,
             .family = Family::rearrangement,
             .idea = "adds overlapping blocks: one thread per output pixel sums what the blocks over it have for it"},
    .refuses = refuses,
    .launch = launch_sum,
}};

}  // namespace
}  // namespace convlab
