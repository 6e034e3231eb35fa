// cuda.nhwc_mean, cuda.nhwc_mean_fp32: global average pooling of nhwc images to nchw, also as a mean over height and
// width. A block sums up to 64 channels of a part of an image: adjacent threads have adjacent channels, and `rows` rows
// of threads have every rows-th pixel each. If images have several parts, a second kernel adds these in a fixed order.
// Not supported: results other than {n, c, 1, 1}.
// Limited by loads; with small batches, by their latency.

#include <algorithm>

#include "convlab/kernels/cuda/nhwc/pixel_end.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_op.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int64_t kPixelsOfThread = 8;  // maximum pixels of a thread, which determines the number of parts

template <class Element>
struct PixelMean {
  const Element* x;
  int64_t x_step;
  float* y;  ///< [part][image][channel]
  int chunks, pixels, images;
  int lanes;         ///< threads of a block along channels, each with 8 channels
  int rows;          ///< threads of a block along pixels, a power of two
  int groups;        ///< groups of `lanes` chunks per pixel
  int parts, share;  ///< parts per image; pixels per part
  float factor;      ///< factor of the sums
};

template <class Element>
__global__ void __launch_bounds__(kThreads) sum_maps(const PixelMean<Element> mean) {
  __shared__ float sums[8][kThreads];
  const int lane = threadIdx.x % mean.lanes, row = threadIdx.x / mean.lanes;
  const int part = blockIdx.x % mean.parts, group = blockIdx.x / mean.parts % mean.groups;
  const int image = blockIdx.x / mean.parts / mean.groups, chunk = group * mean.lanes + lane;
  const bool exists = chunk < mean.chunks;
  float sum[8] = {};
  if (exists) {
    const int first = part * mean.share, end = first + min(mean.share, mean.pixels - first);
    const Element* from = mean.x + static_cast<int64_t>(image) * mean.pixels * mean.x_step + chunk * 8;
#pragma unroll 4
    for (int pixel = first + row; pixel < end; pixel += mean.rows) {
      float x[8];
      load_eight(from + pixel * mean.x_step, x);
#pragma unroll
      for (int i = 0; i < 8; ++i) sum[i] += x[i];
    }
  }
  for (int half = mean.rows / 2; half > 0; half /= 2) {
    if (row >= half && row < 2 * half) {
#pragma unroll
      for (int i = 0; i < 8; ++i) sums[i][threadIdx.x] = sum[i];
    }
    __syncthreads();
    if (row < half) {
#pragma unroll
      for (int i = 0; i < 8; ++i) sum[i] += sums[i][threadIdx.x + half * mean.lanes];
    }
  }
  if (row != 0 || !exists) return;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum[i] *= mean.factor;
  store_eight(mean.y + ((static_cast<int64_t>(part) * mean.images + image) * mean.chunks + chunk) * 8, sum);
}

/// A warp's lanes have adjacent channels; each of the block's warps adds every kWarps-th part.
__global__ void __launch_bounds__(kThreads)
    add_parts(const float* from, float* y, int64_t count, int parts, float factor) {
  __shared__ float sums[kWarps][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * 32 + lane;
  float sum = 0;
  if (i < count) {
#pragma unroll 4
    for (int part = warp; part < parts; part += kWarps) sum += from[part * count + i];
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || i >= count) return;
#pragma unroll
  for (int other = 1; other < kWarps; ++other) sum += sums[other][lane];
  y[i] = sum * factor;
}

/// Returns the partition of a step's work, without addresses. It does not depend on the number of images.
template <class Element>
PixelMean<Element> cut_of(const Step& step) {
  const Shape& x = step.inputs[0].shape;
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  PixelMean<Element> mean{
      .chunks = narrow(x[1] / kChannelLanes), .pixels = narrow(x[2] * x[3]), .images = narrow(x[0])};
  mean.lanes = std::clamp(mean.chunks, 1, 8);
  mean.rows = 1;
  while (2 * mean.rows * mean.lanes <= kThreads) mean.rows *= 2;
  mean.groups = narrow(ceil_div(mean.chunks, mean.lanes));
  mean.parts = narrow(std::max<int64_t>(1, ceil_div(mean.pixels, mean.rows * kPixelsOfThread)));
  mean.share = narrow(ceil_div(mean.pixels, mean.parts));
  mean.parts = narrow(std::max<int64_t>(1, ceil_div(mean.pixels, std::max(1, mean.share))));
  return mean;
}

template <class Element>
Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!is_mean_of_maps(step)) return "only global average pooling is supported";
  if (step.outputs[0].format.order != Order::nchw) return "output must be nchw";
  return refuse_unless_from_last<Element>(step);
}

template <class Element>
size_t workspace_bytes(const Step& step, const DeviceCaps&) {
  const int64_t parts = cut_of<Element>(step).parts;
  return parts == 1 ? 0
                    : static_cast<size_t>(
                          checked_product({parts, element_count(step.outputs[0].shape), int64_t{sizeof(float)}}));
}

template <class Element>
void launch_mean(const Args& args, Stream& stream) {
  PixelMean<Element> mean = cut_of<Element>(args.step);
  const int64_t count = element_count(args.step.outputs[0].shape);
  if (count == 0) return;
  const float factor = 1 / static_cast<float>(mean.pixels);
  const bool whole = mean.parts == 1;
  mean.x = pixel_input<Element>(args, 0);
  mean.x_step = input_pixel_step(args.step, 0);
  mean.y = whole ? args.output() : static_cast<float*>(args.workspace);
  mean.factor = whole ? factor : 1;
  launch(sum_maps<Element>,
         {.grid = checked_product({mean.images, mean.groups, mean.parts}), .block = int64_t{mean.lanes} * mean.rows},
         stream.native(), mean);
  if (whole) return;
  launch(add_parts, {.grid = ceil_div(count, 32), .block = kThreads}, stream.native(),
         static_cast<const float*>(mean.y), args.output(), count, mean.parts, factor);
}

template <class Element>
Kernel kernel(const char* name) {
  return {.info = {.name = name,
                   .device = kCompiledFor,
                   .family = Family::pooling,
                   .math = kPixelMath<Element>,
                   .idea = "mean of each channel of nhwc images: threads have adjacent channels, and parts are added "
                           "in a fixed order"},
          .refuses = refuses<Element>,
          .workspace_bytes = workspace_bytes<Element>,
          .launch = launch_mean<Element>,
          .format = kPixelFormat<Element>};
}

const RegisterKernel of_halves(kernel<__half>("cuda.nhwc_mean"));
const RegisterKernel of_floats(kernel<float>("cuda.nhwc_mean_fp32"));

}  // namespace
}  // namespace convlab
