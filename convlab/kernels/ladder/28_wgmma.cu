// Multiplies operands in shared memory by wgmma while the warpgroup stages the next ones (rung 28).
//
// A warpgroup, 128 threads, multiplies 64 x 8 by 8 x 32 values with one instruction. It reads both operands from shared
// memory and runs asynchronously: the threads continue with other work.
//
// It sees shared memory as core matrices of 128 bytes: 8 contiguous rows of 16 bytes, each with 4 TF32 terms of the
// reduction. Here a row is an output pixel (of operand A) or an output channel (of B). A product of 8 terms uses two
// core matrices side by side, and for 64 pixels eight below each other. So the staged operand is an array [quad of
// terms][row] of 16 bytes:
//
//                     rows 0-7     rows 8-15    ...
//    terms 0-3      | 128 bytes  | 128 bytes  | ...      the next core matrix below is 128 bytes further,
//    terms 4-7      | 128 bytes  | 128 bytes  | ...      the next one on the right is all rows * 16 bytes further
//
// and its 64-bit descriptor holds an address and two distances without their low four bits (operand_descriptor):
//
//    bits 0-13: start address     16-29: bytes to the core matrix on the right
//    32-45: bytes to the core matrix below     62-63: 0, no swizzle

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/hopper.cuh"
#include "convlab/device/tensor_core.cuh"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.wgmma",
    .device = kCompiledFor,
    .math = Math::tf32,
    .rung = 28,
    .idea = "wgmma multiplies operands in shared memory while the warpgroup stages the next ones",
    .after = "cuda.tensor_core_tf32",
    .threads =
        "A block of 128 threads, one warpgroup, computes 128 output pixels of 32 output channels: each thread stages "
        "all C * R * S inputs of one pixel and ends up with 32 sums.",
    .cost =
        "2 * C * R * S flops at the rate of tensor cores, for 32 output channels even if there are fewer; a pixel is "
        "loaded and stored to shared memory R * S times for every 32 output channels.",
    .refuses = "Fused epilogues, uint8 input, groups, and GPUs other than compute capability 9.0.",
    .limit =
        "Staging: about twenty instructions locate, load and round a pixel, which is then multiplied for 32 output "
        "channels at once.",
};

constexpr int kThreads = 128;  // one warpgroup
constexpr int kPixels = 128;   // per block, one per thread: two products of 64 rows
constexpr int kMaps = 32;      // output channels per block: the columns of a product
constexpr int64_t kMostBlocksInZ = 65535;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

constexpr int kTerms = 32;  // reduction elements staged at a time: four products
constexpr int kQuads = kTerms / 4;

/// A position in the reduction, term = (c * R + r) * S + s.
struct Term {
  int c = 0, r = 0, s = 0;

  __device__ void next(const ConvShape& shape) {
    const bool end_of_row = ++s == shape.s;
    if (end_of_row) s = 0;
    r += end_of_row;
    const bool end_of_channel = r == shape.r;
    if (end_of_channel) r = 0;
    c += end_of_channel;
  }
};

/// Starts sum += a * b for 64 pixels, 32 output channels and 8 terms; it still runs when this returns. Of each 8 output
/// channels, thread t of warp v gets channels 2 (t % 4) and 2 (t % 4) + 1: for pixel 16 v + t / 4 in sum[0] and sum[1],
/// for the pixel 8 further in sum[2] and sum[3].
__device__ void begin_product(float (&sum)[16], uint64_t a, uint64_t b) {
  asm volatile(
      "{.reg .pred add; setp.eq.u32 add, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, %17, add, 1, 1;}\n"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]),
        "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]),
        "+f"(sum[15])
      : "l"(a), "l"(b));
}

#endif

__global__ void __launch_bounds__(kThreads) convolve_wgmma(const float* __restrict__ x, const float* __restrict__ w,
                                                           float* __restrict__ y, const ConvShape shape) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  __shared__ alignas(128) uint4 pixels[2][kQuads][kPixels];  // two buffers: one is multiplied while the other is filled
  __shared__ alignas(128) uint4 filters[2][kQuads][kMaps];

  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int area = shape.p * shape.q, first_pixel = blockIdx.x * kPixels, first_map = blockIdx.y * kMaps;
  const int terms = shape.c * shape.r * shape.s;
  const int pixel = first_pixel + thread;
  // A thread past the last pixel uses a row below the image, so it stages zeros.
  const int top = pixel < area ? pixel / shape.q * shape.stride_h - shape.pad_top : shape.h;
  const int left = pixel % shape.q * shape.stride_w - shape.pad_left;

  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    const float* image = x + n * shape.c * shape.h * shape.w;
    float sum[2][16] = {};
    Term term;
    for (int first = 0; first < terms; first += kTerms) {
      const int buffer = first / kTerms % 2;

      // Stage the filters, eight output channels per warp. Past the last term both operands are 0: 0 * NaN is NaN.
      const int map = warp * 8 + lane % 8;
      for (int quad = lane / 8; quad < kQuads; quad += 4) {
        uint32_t value[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int at = first + quad * 4 + i;
          const bool exists = first_map + map < shape.k && at < terms;
          value[i] = to_tf32(exists ? w[(first_map + map) * terms + at] : 0);
        }
        filters[buffer][quad][map] = {value[0], value[1], value[2], value[3]};
      }
      // Stage the pixels, one per thread: loads of adjacent threads are coalesced.
#pragma unroll
      for (int quad = 0; quad < kQuads; ++quad) {
        uint32_t value[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int row = top + term.r * shape.dilation_h, column = left + term.s * shape.dilation_w;
          const bool inside =
              term.c < shape.c && static_cast<unsigned>(row) < shape.h && static_cast<unsigned>(column) < shape.w;
          value[i] = to_tf32(inside ? image[(term.c * shape.h + row) * shape.w + column] : 0);
          term.next(shape);
        }
        pixels[buffer][quad][thread] = {value[0], value[1], value[2], value[3]};
      }
      fence_for_async();  // wgmma reads shared memory through the async proxy

      // The other buffer's products have finished for this warp, and after the barrier for all: it may be refilled.
      await_multiplications();
      hold(sum[0]);
      hold(sum[1]);
      __syncthreads();

      fence_multiplications();
#pragma unroll
      for (int quad = 0; quad < kQuads; quad += 2) {
        const uint64_t b = operand_descriptor(to_shared(filters[buffer][quad]), sizeof filters[0][0], 128);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const uint32_t rows = to_shared(pixels[buffer][quad] + half * 64);
          begin_product(sum[half], operand_descriptor(rows, sizeof pixels[0][0], 128), b);
        }
      }
      commit_multiplications();
    }
    await_multiplications();
    hold(sum[0]);
    hold(sum[1]);
    __syncthreads();  // the next image starts with buffer 0

    float* to = y + (n * shape.k + first_map) * area + first_pixel;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const int of_block = half * 64 + warp * 16 + i % 4 / 2 * 8 + lane / 4, map = i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (first_pixel + of_block < area && first_map + map < shape.k) to[map * area + of_block] = sum[half][i];
      }
    }
  }
#endif
}

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  if (step.problem.groups != 1) return "groups are not supported";
  if (caps.compute_capability != 90) return "compute capability 9.0 is required";
  return std::nullopt;
}

void launch_wgmma(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const dim3 grid(ceil_div(problem.p() * problem.q(), kPixels), ceil_div(problem.k, kMaps),
                  std::min(problem.n, kMostBlocksInZ));
  launch(convolve_wgmma, {.grid = grid, .block = kThreads}, stream.native(), static_cast<const float*>(args.x), args.w,
         args.y, kernel_shape(problem));
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_wgmma>,
}};

}  // namespace
}  // namespace convlab
