// cuda.pool: max and average pooling of NCHW images. One thread per output; a plane is n * C + c.

#include <algorithm>
#include <cmath>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 128;
constexpr int64_t kMostPlanesInGrid = 65535;

struct PoolShape {
  int64_t planes;
  int h, w, p, q;
  int kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, pad_bottom, pad_right;
  bool average, count_include_pad;
};

__device__ float pooled(const float* plane, const PoolShape& shape, int p, int q) {
  float largest = -INFINITY, sum = 0;
  int inside = 0, window = 0;
  for (int r = 0; r < shape.kernel_h; ++r) {
    for (int s = 0; s < shape.kernel_w; ++s) {
      const int h = p * shape.stride_h + r * shape.dilation_h - shape.pad_top;
      const int w = q * shape.stride_w + s * shape.dilation_w - shape.pad_left;
      // With ceil_mode a window may reach beyond the padding. Positions there never count.
      if (h < shape.h + shape.pad_bottom && w < shape.w + shape.pad_right) ++window;
      if (h < 0 || h >= shape.h || w < 0 || w >= shape.w) continue;
      const float value = plane[h * shape.w + w];
      if (!(value <= largest)) largest = value;  // also true for NaN
      if (value != value) return value;          // NaN propagates
      sum += value;
      ++inside;
    }
  }
  if (!shape.average) return largest;
  return sum / static_cast<float>(shape.count_include_pad ? window : inside);
}

__global__ void __launch_bounds__(kThreads) pool_planes(const float* x, float* y, PoolShape shape) {
  const int pixel = blockIdx.x * kThreads + threadIdx.x;
  if (pixel >= shape.p * shape.q) return;
  for (int64_t plane = blockIdx.y; plane < shape.planes; plane += gridDim.y) {
    y[plane * shape.p * shape.q + pixel] =
        pooled(x + plane * shape.h * shape.w, shape, pixel / shape.q, pixel % shape.q);
  }
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<PoolOp>(step.op) && !std::holds_alternative<GlobalAveragePoolOp>(step.op)) {
    return "only pooling is supported";
  }
  const auto* pool = std::get_if<PoolOp>(&step.op);
  if (pool != nullptr && pool->auto_pad != AutoPad::explicit_pads) return "padding must be explicit";
  if (step.inputs[0].shape.size() != 4) return "input must be 4-dimensional";
  return std::nullopt;
}

void launch_pool(const Args& args, Stream& stream) {
  const Shape& x = args.step.inputs[0].shape;
  Pool pool{.kind = PoolKind::average, .kernel_h = x[2], .kernel_w = x[3]};
  if (const auto* op = std::get_if<PoolOp>(&args.step.op)) pool = op->pool;
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  const PoolShape shape{.planes = x[0] * x[1],
                        .h = narrow(x[2]),
                        .w = narrow(x[3]),
                        .p = narrow(args.step.outputs[0].shape[2]),
                        .q = narrow(args.step.outputs[0].shape[3]),
                        .kernel_h = narrow(pool.kernel_h),
                        .kernel_w = narrow(pool.kernel_w),
                        .stride_h = narrow(pool.stride_h),
                        .stride_w = narrow(pool.stride_w),
                        .dilation_h = narrow(pool.dilation_h),
                        .dilation_w = narrow(pool.dilation_w),
                        .pad_top = narrow(pool.pad_top),
                        .pad_left = narrow(pool.pad_left),
                        .pad_bottom = narrow(pool.pad_bottom),
                        .pad_right = narrow(pool.pad_right),
                        .average = pool.kind == PoolKind::average,
                        .count_include_pad = pool.count_include_pad};
  if (element_count(args.step.outputs[0].shape) == 0) return;
  const dim3 grid(ceil_div(shape.p * shape.q, kThreads), std::min(shape.planes, kMostPlanesInGrid));
  launch(pool_planes, {.grid = grid, .block = kThreads}, stream.native(), args.input(0), args.output(), shape);
}

const RegisterKernel registered{{
    .info = {.name = "cuda.pool",
             .device = kCompiledFor,
             .family = Family::pooling,
             .idea = "max and average pooling: one thread per output element"},
    .refuses = refuses,
    .launch = launch_pool,
}};

}  // namespace
}  // namespace convlab
