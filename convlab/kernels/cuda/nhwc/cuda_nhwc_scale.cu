// cuda.nhwc_scale, cuda.nhwc_scale_fp32: multiplies channels in nhwc by per-channel numbers, adds such numbers, or
// both. Supports Mul and Add with an nchw input {n, c, 1, 1}, {1, c, 1, 1} or {c, 1, 1}, and BatchNormalization, with
// an activation that is a clamp. A thread computes 8 channels of some pixels, so that it loads their numbers once.
// Not supported: other shapes, and images in other layouts.
// Limited by memory.

#include "convlab/device/early_launch.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_end.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_op.h"
#include "convlab/kernels/cuda/nhwc/quick_activation.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256;
constexpr int kPixels = 4;

enum class Scaling { multiply, add, normalize };

template <class Element>
struct PixelScale {
  const Element* x;
  int64_t x_step;
  Element* y;
  int64_t y_step;
  const float* numbers;                          ///< a factor or an addend for each channel
  bool by_image;                                 ///< whether each image has its own numbers
  const float *scale, *shift, *mean, *variance;  ///< instead of `numbers`, for BatchNormalization
  float epsilon;
  Clamp clamp;
  int pixels;       ///< per image
  unsigned chunks;  ///< per pixel
  unsigned groups;  ///< groups of kPixels pixels per image
  unsigned count;   ///< threads that have work
};

/// y = x * factor + plus, for 8 channels.
struct Numbers {
  float factor[8], plus[8];
};

template <Scaling kScaling, class Element>
__device__ Numbers numbers_of(const PixelScale<Element>& step, unsigned image, unsigned channel) {
  Numbers numbers;
  if constexpr (kScaling == Scaling::normalize) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const unsigned c = channel + i;
      numbers.factor[i] = step.scale[c] / sqrtf(step.variance[c] + step.epsilon);
      numbers.plus[i] = step.shift[c] - step.mean[c] * numbers.factor[i];
    }
  } else {
    const float* from = step.numbers + (step.by_image ? static_cast<int64_t>(image) * step.chunks * 8 : 0) + channel;
    load_eight(from, kScaling == Scaling::multiply ? numbers.factor : numbers.plus);
  }
  return numbers;
}

template <Scaling kScaling, class Element>
__global__ void __launch_bounds__(kThreads) scale_pixels(const PixelScale<Element> step) {
  begin_in_turn();
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= step.count) return;
  const unsigned channel = i % step.chunks * 8, group = i / step.chunks % step.groups;
  const unsigned image = i / step.chunks / step.groups;
  const int first = group * kPixels, count = min(kPixels, step.pixels - first);
  const int64_t pixel = static_cast<int64_t>(image) * step.pixels + first;
  float x[kPixels][8];
#pragma unroll
  for (int j = 0; j < kPixels; ++j) {
    if (j < count) load_eight(step.x + (pixel + j) * step.x_step + channel, x[j]);
  }
  const Numbers numbers = numbers_of<kScaling>(step, image, channel);
#pragma unroll
  for (int j = 0; j < kPixels; ++j) {
    if (j >= count) break;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      float& y = x[j][k];
      if constexpr (kScaling != Scaling::add) y *= numbers.factor[k];
      if constexpr (kScaling != Scaling::multiply) y += numbers.plus[k];
      y = clamped(step.clamp, y);
    }
    store_eight(step.y + (pixel + j) * step.y_step + channel, x[j]);
  }
}

template <class Element>
Refusal refuses(const Step& step, const DeviceCaps&) {
  if (const Refusal refusal = refuse_unless_scales_channels(step)) return refusal;
  return refuse_unless_last<Element>(step);
}

template <class Element>
void launch_scale(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const Shape& shape = step.outputs[0].shape;
  if (element_count(shape) == 0) return;
  const auto* norm = std::get_if<BatchNormOp>(&step.op);
  const size_t numbers = norm != nullptr ? 1 : channel_input(step), images = norm != nullptr ? 0 : 1 - numbers;
  PixelScale<Element> scale{.x = pixel_input<Element>(args, images),
                            .x_step = input_pixel_step(step, images),
                            .y = pixel_output<Element>(args),
                            .y_step = output_pixel_step(step),
                            .clamp = *clamp_of(step.epilogue.activation),
                            .pixels = static_cast<int>(shape[2] * shape[3]),
                            .chunks = static_cast<unsigned>(shape[1] / kChannelLanes)};
  scale.groups = static_cast<unsigned>(ceil_div(scale.pixels, kPixels));
  scale.count = static_cast<unsigned>(shape[0]) * scale.groups * scale.chunks;
  const LaunchShape blocks{.grid = ceil_div(scale.count, kThreads), .block = kThreads, .early = true};
  if (norm != nullptr) {
    scale.scale = args.input(1), scale.shift = args.input(2);
    scale.mean = args.input(3), scale.variance = args.input(4);
    scale.epsilon = norm->epsilon;
    return launch(scale_pixels<Scaling::normalize, Element>, blocks, stream.native(), scale);
  }
  scale.numbers = args.input(numbers);
  scale.by_image = element_count(step.inputs[numbers].shape) != shape[1];
  const bool adds = std::holds_alternative<AddOp>(step.op);
  launch(adds ? scale_pixels<Scaling::add, Element> : scale_pixels<Scaling::multiply, Element>, blocks, stream.native(),
         scale);
}

template <class Element>
Kernel kernel(const char* name) {
  return {
      .info = {.name = name,
               .device = kCompiledFor,
               .family = Family::elementwise,
               .math = kPixelMath<Element>,
               .idea = "scale and shift of each channel of nhwc images: a thread loads its channels' numbers once for "
                       "some pixels"},
      .refuses = refuses<Element>,
      .launch = launch_scale<Element>,
      .format = kPixelFormat<Element>,
      .fuses_activation = true,
  };
}

const RegisterKernel of_halves(kernel<__half>("cuda.nhwc_scale"));
const RegisterKernel of_floats(kernel<float>("cuda.nhwc_scale_fp32"));

}  // namespace
}  // namespace convlab
