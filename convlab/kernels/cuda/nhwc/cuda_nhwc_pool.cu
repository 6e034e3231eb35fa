// cuda.nhwc_pool, cuda.nhwc_pool_fp32: max and average pooling of nhwc images to nhwc or nchw. A thread computes 8
// channels of some vertically adjacent pixels, whose windows overlap in L1. For nchw output, adjacent threads compute
// adjacent pixels, one each.
// Not supported: anything else.
// Limited by memory with windows of 2x2 or 3x3 pixels, otherwise by L1.

#include "convlab/device/early_launch.cuh"
#include "convlab/kernels/cpu/simd/pool_rows.h"
#include "convlab/kernels/cuda/nhwc/pixel_end.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_op.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256;
constexpr int kRows = 4;                        // output rows per thread
constexpr int64_t kEnoughThreads = 256 * 1024;  // with fewer, each computes one row

template <class Element>
struct PixelPool {
  const Element* x;
  int64_t x_step;
  Element* y;  ///< nullptr if the output is nchw
  int64_t y_step;
  float* plain;
  int h, w, p, q;
  int kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, pad_bottom, pad_right;
  bool count_include_pad;
  unsigned chunks;      ///< per pixel
  unsigned rows;        ///< output rows per thread
  unsigned row_groups;  ///< per image
  unsigned count;       ///< threads that have work
};

/// Returns the larger of each pair, or NaN if either is NaN.
__device__ __half2 larger(__half2 a, __half2 b) { return __hmax2_nan(a, b); }
__device__ float2 larger(float2 a, float2 b) {
  const auto of = [](float x, float y) { return x > y || x != x ? x : y; };
  return make_float2(of(a.x, b.x), of(a.y, b.y));
}

template <class Element>
class Maximum {
 public:
  __device__ Maximum() {
#pragma unroll
    for (PixelPair<Element>& pair : largest_.pairs) pair = pair_of<Element>(-INFINITY, -INFINITY);
  }
  __device__ void take(const Element* from) {
    PixelChunk<Element> chunk;
    chunk.load(from);
#pragma unroll
    for (int i = 0; i < 4; ++i) largest_.pairs[i] = larger(largest_.pairs[i], chunk.pairs[i]);
  }
  __device__ void finish(int, float (&to)[8]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 pair = floats_of(largest_.pairs[i]);
      to[2 * i] = pair.x;
      to[2 * i + 1] = pair.y;
    }
  }

 private:
  PixelChunk<Element> largest_;
};

template <class Element>
class Average {
 public:
  __device__ void take(const Element* from) {
    float x[8];
    load_eight(from, x);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum_[i] += x[i];
  }
  __device__ void finish(int count, float (&to)[8]) const {
    const auto divisor = static_cast<float>(count);
#pragma unroll
    for (int i = 0; i < 8; ++i) to[i] = sum_[i] / divisor;
  }

 private:
  float sum_[8] = {};
};

/// kWindow: the kernel's height and width, or 0 for any.
template <class Result, int kWindow, class Element>
__device__ void pool_window(const PixelPool<Element>& pool, const Element* image, int p, int q, float (&to)[8]) {
  const int kernel_h = kWindow != 0 ? kWindow : pool.kernel_h, kernel_w = kWindow != 0 ? kWindow : pool.kernel_w;
  Result result;
  int inside = 0, window = 0;
#pragma unroll
  for (int r = 0; r < kernel_h; ++r) {
    const int h = p * pool.stride_h + r * pool.dilation_h - pool.pad_top;
#pragma unroll
    for (int s = 0; s < kernel_w; ++s) {
      const int w = q * pool.stride_w + s * pool.dilation_w - pool.pad_left;
      // With ceil_mode, a window may extend beyond the padding; positions there never count.
      if (h < pool.h + pool.pad_bottom && w < pool.w + pool.pad_right) ++window;
      if (h < 0 || h >= pool.h || w < 0 || w >= pool.w) continue;
      result.take(image + (static_cast<int64_t>(h) * pool.w + w) * pool.x_step);
      ++inside;
    }
  }
  result.finish(pool.count_include_pad ? window : inside, to);
}

template <class Result, int kWindow, class Element>
__device__ void pool_to_plain(const PixelPool<Element>& pool, unsigned i) {
  const unsigned pixels = pool.p * pool.q, pixel = i % pixels, chunk = i / pixels % pool.chunks;
  const int64_t image = i / pixels / pool.chunks;
  float y[8];
  pool_window<Result, kWindow>(pool, pool.x + image * pool.h * pool.w * pool.x_step + chunk * 8, pixel / pool.q,
                               pixel % pool.q, y);
  float* const to = pool.plain + (image * pool.chunks + chunk) * 8 * pixels + pixel;
#pragma unroll
  for (int channel = 0; channel < 8; ++channel) to[static_cast<int64_t>(channel) * pixels] = y[channel];
}

template <class Result, int kWindow, class Element>
__global__ void __launch_bounds__(kThreads) pool_pixels(const PixelPool<Element> pool) {
  begin_in_turn();
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= pool.count) return;
  if (pool.plain != nullptr) return pool_to_plain<Result, kWindow>(pool, i);
  const unsigned channel = i % pool.chunks * 8, place = i / pool.chunks, q = place % pool.q;
  const unsigned image = place / pool.q / pool.row_groups, first = place / pool.q % pool.row_groups * pool.rows;
  const Element* from = pool.x + static_cast<int64_t>(image) * pool.h * pool.w * pool.x_step + channel;
  for (unsigned p = first; p < min(first + pool.rows, pool.p); ++p) {
    float y[8];
    pool_window<Result, kWindow>(pool, from, p, q, y);
    const int64_t pixel = (static_cast<int64_t>(image) * pool.p + p) * pool.q + q;
    store_eight(pool.y + pixel * pool.y_step + channel, y);
  }
}

template <class Element>
Refusal refuses(const Step& step, const DeviceCaps&) {
  if (const Refusal refusal = refuse_unless_pools(step)) return refusal;
  if (const Refusal refusal = refuse_unless_pixels(step.inputs[0].shape)) return refusal;
  Step last = step;
  if (step.outputs[0].format.order == Order::nchw) last.outputs[0].format = kPixelFormat<Element>;
  return refuse_unless_last<Element>(last);
}

template <class Result, class Element>
void launch_windows(const PixelPool<Element>& pool, Stream& stream) {
  const LaunchShape shape{.grid = ceil_div(pool.count, kThreads), .block = kThreads, .early = true};
  const bool square = pool.kernel_h == pool.kernel_w;
  if (square && pool.kernel_h == 2) return launch(pool_pixels<Result, 2, Element>, shape, stream.native(), pool);
  if (square && pool.kernel_h == 3) return launch(pool_pixels<Result, 3, Element>, shape, stream.native(), pool);
  launch(pool_pixels<Result, 0, Element>, shape, stream.native(), pool);
}

template <class Element>
void launch_pool(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const Shape &x = step.inputs[0].shape, &y = step.outputs[0].shape;
  if (element_count(y) == 0) return;
  const Pool& pool = std::get<PoolOp>(step.op).pool;
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  PixelPool<Element> pixels{.x = pixel_input<Element>(args, 0),
                            .x_step = input_pixel_step(step, 0),
                            .y_step = output_pixel_step(step),
                            .h = narrow(x[2]),
                            .w = narrow(x[3]),
                            .p = narrow(y[2]),
                            .q = narrow(y[3]),
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
                            .count_include_pad = pool.count_include_pad,
                            .chunks = static_cast<unsigned>(y[1] / kChannelLanes),
                            .rows = chunks_in(y) >= kRows * kEnoughThreads ? kRows : 1u};
  if (step.outputs[0].format.order == Order::nchw) {
    pixels.plain = args.output();
    pixels.rows = 1;
  } else {
    pixels.y = pixel_output<Element>(args);
  }
  pixels.row_groups = static_cast<unsigned>(ceil_div(pixels.p, pixels.rows));
  pixels.count = static_cast<unsigned>(y[0]) * pixels.row_groups * static_cast<unsigned>(pixels.q) * pixels.chunks;
  if (pool.kind == PoolKind::max) return launch_windows<Maximum<Element>>(pixels, stream);
  launch_windows<Average<Element>>(pixels, stream);
}

template <class Element>
Kernel kernel(const char* name) {
  return {.info = {.name = name,
                   .device = kCompiledFor,
                   .family = Family::pooling,
                   .math = kPixelMath<Element>,
                   .idea = "max and average pooling of nhwc images: a thread computes 8 channels of adjacent rows, "
                           "whose windows overlap"},
          .refuses = refuses<Element>,
          .launch = launch_pool<Element>,
          .format = kPixelFormat<Element>};
}

const RegisterKernel of_halves(kernel<__half>("cuda.nhwc_pool"));
const RegisterKernel of_floats(kernel<float>("cuda.nhwc_pool_fp32"));

}  // namespace
}  // namespace convlab
