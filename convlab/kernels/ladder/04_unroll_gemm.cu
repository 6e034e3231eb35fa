// Unrolls the images in global memory (im2col), then multiplies with shared-memory tiles (rung 4).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.unroll_gemm",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 4,
    .idea = "im2col to global memory, then shared-memory tiled matrix multiply",
    .after = "cuda.basic",
    .threads =
        "Unroll: one thread per element of the unrolled matrix [C * R * S][P * Q]. Multiply: a block of 16x16 threads "
        "computes a 16x16 tile of output channels x pixels of one image and group, one output per thread.",
    .cost =
        "2 * C * R * S flops; the unrolled matrix holds each pixel R * S times, is written once and read once per 16 "
        "output channels: this traffic is the cost of using a matrix multiply.",
    .refuses = "Fused epilogues, uint8 input, and unrolled images too large for 32-bit indices.",
    .limit =
        "Memory: the unrolled matrix is 25 times as large as the image. Images are processed in chunks to limit its "
        "size.",
};

constexpr int kTile = 16;
constexpr int kUnrollThreads = 256;
constexpr int64_t kChunkBytes = int64_t{256} << 20;  // unrolled images per chunk; a chunk has at least one image
constexpr int64_t kMostBlocksInZ = 65535;

/// Writes unrolled[image][group][term][pixel], where term = (c * R + r) * S + s is the reduction index.
__global__ void __launch_bounds__(kUnrollThreads) unroll(const float* x, float* unrolled, ConvShape shape) {
  const int pixel = blockIdx.x * kUnrollThreads + threadIdx.x;
  if (pixel >= shape.p * shape.q) return;
  const int c = blockIdx.y;  // input channel, counted over all groups
  const float* plane = x + (static_cast<int64_t>(blockIdx.z) * shape.c + c) * shape.h * shape.w;
  float* column = unrolled + (static_cast<int64_t>(blockIdx.z) * shape.c + c) * shape.r * shape.s * shape.p * shape.q;
  const int top = pixel / shape.q * shape.stride_h - shape.pad_top;
  const int left = pixel % shape.q * shape.stride_w - shape.pad_left;
  for (int r = 0; r < shape.r; ++r) {
    for (int s = 0; s < shape.s; ++s) {
      const int h = top + r * shape.dilation_h, across = left + s * shape.dilation_w;
      const bool inside = h >= 0 && h < shape.h && across >= 0 && across < shape.w;
      column[(r * shape.s + s) * shape.p * shape.q + pixel] = inside ? plane[h * shape.w + across] : 0;
    }
  }
}

/// Computes y[maps][pixels] = w[maps][terms] * unrolled[terms][pixels] for each image and group (blockIdx.z). `maps` is
/// the number of output channels per group; `terms` is the reduction length, input channels per group * R * S.
__global__ void __launch_bounds__(kTile* kTile)
    multiply_tiled(const float* w, const float* unrolled, float* y, int maps, int terms, int pixels, int groups) {
  __shared__ float tile_w[kTile][kTile];
  __shared__ float tile_x[kTile][kTile];
  const int group = blockIdx.z % groups;
  const float* left = w + static_cast<int64_t>(group) * maps * terms;
  const float* right = unrolled + static_cast<int64_t>(blockIdx.z) * terms * pixels;
  const int map = blockIdx.y * kTile + threadIdx.y, pixel = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < terms; first += kTile) {
    const int along = first + threadIdx.x, down = first + threadIdx.y;
    tile_w[threadIdx.y][threadIdx.x] = map < maps && along < terms ? left[map * terms + along] : 0;
    tile_x[threadIdx.y][threadIdx.x] = down < terms && pixel < pixels ? right[down * pixels + pixel] : 0;
    __syncthreads();
    const int staged = min(kTile, terms - first);  // skip the zero padding of the last tile
    for (int i = 0; i < staged; ++i) sum += tile_w[threadIdx.y][i] * tile_x[i][threadIdx.x];
    __syncthreads();
  }
  if (map < maps && pixel < pixels) y[(static_cast<int64_t>(blockIdx.z) * maps + map) * pixels + pixel] = sum;
}

int64_t unrolled_bytes(const ConvProblem& problem) {
  return problem.c * problem.r * problem.s * problem.p() * problem.q() * static_cast<int64_t>(sizeof(float));
}

int64_t images_in_chunk(const ConvProblem& problem) {
  const int64_t most = std::max<int64_t>(1, kChunkBytes / unrolled_bytes(problem));
  return std::min({problem.n, most, std::max<int64_t>(1, kMostBlocksInZ / problem.groups)});
}

size_t workspace_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(images_in_chunk(step.problem) * unrolled_bytes(step.problem));
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  if (unrolled_bytes(step.problem) > int64_t{1} << 31) return "an unrolled image exceeds 2 GiB";
  if (step.problem.c > kMostBlocksInZ) return "at most 65535 input channels are supported";
  return std::nullopt;
}

void launch_unroll_gemm(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const ConvShape shape = kernel_shape(problem);
  const int pixels = shape.p * shape.q, terms = shape.channels * shape.r * shape.s;
  const auto* x = static_cast<const float*>(args.x);
  auto* unrolled = static_cast<float*>(args.workspace);
  const int64_t chunk = images_in_chunk(problem);
  for (int64_t n = 0; n < problem.n; n += chunk) {
    const int64_t images = std::min(chunk, problem.n - n);
    launch(unroll, {.grid = dim3(ceil_div(pixels, kUnrollThreads), shape.c, images), .block = kUnrollThreads},
           stream.native(), x + n * problem.c * problem.h * problem.w, unrolled, shape);
    const dim3 grid(ceil_div(pixels, kTile), ceil_div(shape.maps, kTile), images * problem.groups);
    launch(multiply_tiled, {.grid = grid, .block = dim3(kTile, kTile)}, stream.native(), args.w, unrolled,
           args.y + n * problem.k * pixels, shape.maps, terms, pixels, static_cast<int>(problem.groups));
  }
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .workspace_bytes = of_conv<workspace_bytes>,
    .launch = of_conv<launch_unroll_gemm>,
}};

}  // namespace
}  // namespace convlab
