// cuda.pixel_reorder: plain images to channels last, back, and among what is joined. A block copies a square of pixels and
// channels through shared memory, so that neighbours are neighbours in either order.
// Refuses activations, and all but these orders.
// Limited by memory.

#include "convlab/kernels/gpu_channels/pixel_end.cuh"
#include "convlab/kernels/gpu_channels/pixel_op.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256;
constexpr int kSide = 64;        // pixels and channels of a square
constexpr int kRow = kSide + 2;  // halves from pixel to pixel there: what lies under each other lies in different banks

/// Images, and how they are cut into squares.
struct Squares {
  float* plain;
  __half* pixels;
  int64_t step;           ///< from pixel to pixel
  int channels, size;     ///< pixels of an image
  unsigned across, down;  ///< squares of an image: along its channels, and along its pixels
};

/// A block's square: what a thread needs to find its elements.
struct Square {
  int channels, size;  ///< that there are in it
  float* plain;        ///< its first element
  __half* pixels;

  __device__ explicit Square(const Squares& all) {
    const unsigned down = blockIdx.x % all.down, across = blockIdx.x / all.down % all.across;
    const int64_t image = blockIdx.x / all.down / all.across;
    const int channel = across * kSide, pixel = down * kSide;
    channels = min(kSide, all.channels - channel);
    size = min(kSide, all.size - pixel);
    plain = all.plain + (image * all.channels + channel) * all.size + pixel;
    pixels = all.pixels + (image * all.size + pixel) * all.step + channel;
  }
};

__global__ void __launch_bounds__(kThreads) copy_from_plain(const Squares all) {
  __shared__ __half2 tile[kSide * kRow / 2];
  const Square square(all);
  const int pixel = threadIdx.x % kSide;
#pragma unroll
  for (int pair = threadIdx.x / kSide; pair < kSide / 2; pair += kThreads / kSide) {
    if (pixel >= square.size || 2 * pair >= square.channels) continue;
    const float* from = square.plain + static_cast<int64_t>(2 * pair) * all.size + pixel;
    tile[pixel * kRow / 2 + pair] = __floats2half2_rn(from[0], from[all.size]);
  }
  __syncthreads();
  const int chunk = threadIdx.x % 8;
  if (chunk * 8 >= square.channels) return;
  for (int to = threadIdx.x / 8; to < square.size; to += kThreads / 8) {
    PixelChunk result;
#pragma unroll
    for (int i = 0; i < 4; ++i) result.pairs[i] = tile[to * kRow / 2 + chunk * 4 + i];
    *reinterpret_cast<uint4*>(square.pixels + to * all.step + chunk * 8) = result.bytes;
  }
}

__global__ void __launch_bounds__(kThreads) copy_to_plain(const Squares all) {
  __shared__ __half2 tile[kSide * kRow / 2];
  const Square square(all);
  const int chunk = threadIdx.x % 8;
#pragma unroll
  for (int from = threadIdx.x / 8; from < kSide; from += kThreads / 8) {
    if (from >= square.size || chunk * 8 >= square.channels) continue;
    PixelChunk given;
    given.bytes = *reinterpret_cast<const uint4*>(square.pixels + from * all.step + chunk * 8);
#pragma unroll
    for (int i = 0; i < 4; ++i) tile[from * kRow / 2 + chunk * 4 + i] = given.pairs[i];
  }
  __syncthreads();
  const int pixel = threadIdx.x % kSide;
  if (pixel >= square.size) return;
  for (int pair = threadIdx.x / kSide; 2 * pair < square.channels; pair += kThreads / kSide) {
    const float2 two = __half22float2(tile[pixel * kRow / 2 + pair]);
    float* to = square.plain + static_cast<int64_t>(2 * pair) * all.size + pixel;
    to[0] = two.x;
    to[all.size] = two.y;
  }
}

__global__ void __launch_bounds__(kThreads)
    copy_pixels(const __half* from, int64_t from_step, __half* to, int64_t to_step, unsigned chunks, unsigned count) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  const unsigned pixel = i / chunks, channel = i % chunks * 8;
  *reinterpret_cast<uint4*>(to + pixel * to_step + channel) =
      *reinterpret_cast<const uint4*>(from + pixel * from_step + channel);
}

bool is_known(Layout layout) { return layout == Layout::plain || layout == Layout::channels_last; }

Refusal refuses(const OpStep& step) {
  const auto* op = std::get_if<ActivationOp>(&step.op);
  if (op == nullptr || op->activation.kind != ActivationKind::none) return "copies, nothing else";
  const bool plain = step.input_layout == Layout::plain && step.output_layout == Layout::plain;
  if (plain || !is_known(step.input_layout) || !is_known(step.output_layout)) return "takes or gives channels last";
  if (step.input != ElementType::f32) return "takes float32";
  return refuse_unless_pixels(step.output);
}

void launch_reorder(const OpArgs& args, Stream& stream) {
  const OpStep& step = args.step;
  const Shape& shape = step.output;
  const int64_t count = chunks_in(shape), size = shape[2] * shape[3];
  if (count == 0) return;
  if (step.input_layout == step.output_layout) {
    return launch(copy_pixels, {.grid = ceil_div(count, kThreads), .block = kThreads}, stream.native(),
                  pixel_input(args, 0), input_pixel_step(step, 0), pixel_output(args), output_pixel_step(step),
                  static_cast<unsigned>(shape[1] / kChannelLanes), static_cast<unsigned>(count));
  }
  const bool from_plain = step.input_layout == Layout::plain;
  auto* const input = const_cast<float*>(args.inputs[0]);  // read alone
  Squares squares{.plain = from_plain ? input : args.output,
                  .pixels = reinterpret_cast<__half*>(from_plain ? args.output : input),
                  .step = from_plain ? output_pixel_step(step) : input_pixel_step(step, 0),
                  .channels = static_cast<int>(shape[1]),
                  .size = static_cast<int>(size),
                  .across = static_cast<unsigned>(ceil_div(shape[1], kSide)),
                  .down = static_cast<unsigned>(ceil_div(size, kSide))};
  const LaunchShape blocks{.grid = checked_product({shape[0], squares.across, squares.down}), .block = kThreads};
  launch(from_plain ? copy_from_plain : copy_to_plain, blocks, stream.native(), squares);
}

const RegisterOpKernel registered{{
    .info = {.name = "cuda.pixel_reorder", .device = kCompiledFor, .math = Math::fp16, .rank = 1},
    .refuses = refuses,
    .launch = launch_reorder,
    .layout = Layout::channels_last,
}};

}  // namespace
}  // namespace convlab
