// cuda.nhwc_reorder, cuda.nhwc_reorder_fp32: copies nchw to nhwc, nhwc to nchw, and nhwc to or from parts of
// concatenated arrays. A block copies a square of pixels and channels through shared memory, so that accesses are
// coalesced in either layout.
// Not supported: activations and other layouts.
// Limited by memory.

#include "convlab/kernels/cuda/nhwc/pixel_end.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_op.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256;
constexpr int kSide = 64;              // pixels and channels of a square
constexpr int kPairs = kSide / 2 + 1;  // from one pixel to the next in shared memory: odd, against bank conflicts

/// Images and their partition into squares.
template <class Element>
struct Squares {
  float* plain;
  Element* pixels;
  int64_t step;           ///< elements from one pixel to the next
  int channels, size;     ///< `size`: pixels of an image
  unsigned across, down;  ///< squares of an image, along its channels and along its pixels
};

/// A block's square: what a thread needs to find its elements.
template <class Element>
struct Square {
  int channels, size;  ///< in this square
  float* plain;        ///< its first element
  Element* pixels;

  __device__ explicit Square(const Squares<Element>& all) {
    const unsigned down = blockIdx.x % all.down, across = blockIdx.x / all.down % all.across;
    const int64_t image = blockIdx.x / all.down / all.across;
    const int channel = across * kSide, pixel = down * kSide;
    channels = min(kSide, all.channels - channel);
    size = min(kSide, all.size - pixel);
    plain = all.plain + (image * all.channels + channel) * all.size + pixel;
    pixels = all.pixels + (image * all.size + pixel) * all.step + channel;
  }
};

template <class Element>
__global__ void __launch_bounds__(kThreads) copy_from_plain(const Squares<Element> all) {
  __shared__ PixelPair<Element> tile[kSide * kPairs];
  const Square square(all);
  const int pixel = threadIdx.x % kSide;
#pragma unroll
  for (int pair = threadIdx.x / kSide; pair < kSide / 2; pair += kThreads / kSide) {
    if (pixel >= square.size || 2 * pair >= square.channels) continue;
    const float* from = square.plain + static_cast<int64_t>(2 * pair) * all.size + pixel;
    tile[pixel * kPairs + pair] = pair_of<Element>(from[0], from[all.size]);
  }
  __syncthreads();
  const int chunk = threadIdx.x % 8;
  if (chunk * 8 >= square.channels) return;
  for (int to = threadIdx.x / 8; to < square.size; to += kThreads / 8) {
    PixelChunk<Element> result;
#pragma unroll
    for (int i = 0; i < 4; ++i) result.pairs[i] = tile[to * kPairs + chunk * 4 + i];
    result.store(square.pixels + to * all.step + chunk * 8);
  }
}

template <class Element>
__global__ void __launch_bounds__(kThreads) copy_to_plain(const Squares<Element> all) {
  __shared__ PixelPair<Element> tile[kSide * kPairs];
  const Square square(all);
  const int chunk = threadIdx.x % 8;
#pragma unroll
  for (int from = threadIdx.x / 8; from < kSide; from += kThreads / 8) {
    if (from >= square.size || chunk * 8 >= square.channels) continue;
    PixelChunk<Element> given;
    given.load(square.pixels + from * all.step + chunk * 8);
#pragma unroll
    for (int i = 0; i < 4; ++i) tile[from * kPairs + chunk * 4 + i] = given.pairs[i];
  }
  __syncthreads();
  const int pixel = threadIdx.x % kSide;
  if (pixel >= square.size) return;
  for (int pair = threadIdx.x / kSide; 2 * pair < square.channels; pair += kThreads / kSide) {
    const float2 two = floats_of(tile[pixel * kPairs + pair]);
    float* to = square.plain + static_cast<int64_t>(2 * pair) * all.size + pixel;
    to[0] = two.x;
    to[all.size] = two.y;
  }
}

template <class Element>
__global__ void __launch_bounds__(kThreads)
    copy_pixels(const Element* from, int64_t from_step, Element* to, int64_t to_step, unsigned chunks, unsigned count) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  const unsigned pixel = i / chunks, channel = i % chunks * 8;
  PixelChunk<Element> chunk;
  chunk.load(from + pixel * from_step + channel);
  chunk.store(to + pixel * to_step + channel);
}

template <class Element>
bool is_known(Format format) {
  return format.order == Order::nchw || format == kPixelFormat<Element>;
}

template <class Element>
Refusal refuses(const Step& step, const DeviceCaps&) {
  const auto* op = std::get_if<ActivationOp>(&step.op);
  if (op == nullptr || op->activation.kind != ActivationKind::none) return "only copies are supported";
  const bool plain = step.inputs[0].format.order == Order::nchw && step.outputs[0].format.order == Order::nchw;
  if (plain || !is_known<Element>(step.inputs[0].format) || !is_known<Element>(step.outputs[0].format)) {
    return fmt::format("input or output must be {}", name_of(kPixelFormat<Element>));
  }
  if (step.inputs[0].format == kRawPixels) return "input must be float32";
  return refuse_unless_pixels(step.outputs[0].shape);
}

template <class Element>
void launch_reorder(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const Shape& shape = step.outputs[0].shape;
  const int64_t count = chunks_in(shape), size = shape[2] * shape[3];
  if (count == 0) return;
  if (step.inputs[0].format == step.outputs[0].format) {
    return launch(copy_pixels<Element>, {.grid = ceil_div(count, kThreads), .block = kThreads}, stream.native(),
                  pixel_input<Element>(args, 0), input_pixel_step(step, 0), pixel_output<Element>(args),
                  output_pixel_step(step), static_cast<unsigned>(shape[1] / kChannelLanes),
                  static_cast<unsigned>(count));
  }
  const bool from_plain = step.inputs[0].format.order == Order::nchw;
  auto* const input = const_cast<float*>(args.input(0));  // only read
  Squares<Element> squares{.plain = from_plain ? input : args.output(),
                           .pixels = reinterpret_cast<Element*>(from_plain ? args.output() : input),
                           .step = from_plain ? output_pixel_step(step) : input_pixel_step(step, 0),
                           .channels = static_cast<int>(shape[1]),
                           .size = static_cast<int>(size),
                           .across = static_cast<unsigned>(ceil_div(shape[1], kSide)),
                           .down = static_cast<unsigned>(ceil_div(size, kSide))};
  const LaunchShape blocks{.grid = checked_product({shape[0], squares.across, squares.down}), .block = kThreads};
  launch(from_plain ? copy_from_plain<Element> : copy_to_plain<Element>, blocks, stream.native(), squares);
}

template <class Element>
Kernel kernel(const char* name) {
  return {
      .info =
          {.name = name,
           .device = kCompiledFor,
           .family = Family::rearrangement,
           .math = kPixelMath<Element>,
           .idea =
               "converts nchw to nhwc and back in squares through shared memory, so that both accesses are coalesced"},
      .refuses = refuses<Element>,
      .launch = launch_reorder<Element>,
      .format = kPixelFormat<Element>};
}

const RegisterKernel of_halves(kernel<__half>("cuda.nhwc_reorder"));
const RegisterKernel of_floats(kernel<float>("cuda.nhwc_reorder_fp32"));

}  // namespace
}  // namespace convlab
