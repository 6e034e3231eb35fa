// Unrolls pixels while loading the tiles of the matrix multiply: implicit GEMM (rung 5).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.fused_unroll_gemm",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 5,
    .idea = "unrolling done while loading the matrix-multiply tile",
    .after = "cuda.unroll_gemm",
    .threads =
        "A block of 16x16 threads computes a 16x16 tile of output channels x pixels of one image and group, one output "
        "per thread.",
    .cost =
        "2 * C * R * S flops; the unrolled matrix exists only as tiles in shared memory, and global memory is read as "
        "in cuda.basic, but once per 16 output channels.",
    .refuses = "Fused epilogues, uint8 input, and more than 65535 groups.",
    .limit = "Shared memory, with two loads per multiply-add, and the divisions that locate each pixel.",
};

constexpr int kTile = 16;
constexpr int64_t kMostBlocksInZ = 65535;

/// Returns the element of the unrolled matrix in row `term` = (c * R + r) * S + s, for the output pixel whose window
/// starts at row `top` and column `left` of the image.
__device__ float unrolled(const float* image, const ConvShape& shape, int term, int top, int left) {
  const int c = term / (shape.r * shape.s), r = term / shape.s % shape.r, s = term % shape.s;
  const int h = top + r * shape.dilation_h, across = left + s * shape.dilation_w;
  const bool inside = h >= 0 && h < shape.h && across >= 0 && across < shape.w;
  return inside ? image[(c * shape.h + h) * shape.w + across] : 0;
}

__global__ void __launch_bounds__(kTile* kTile)
    convolve_fused(const float* x, const float* w, float* y, ConvShape shape) {
  __shared__ float tile_w[kTile][kTile];
  __shared__ float tile_x[kTile][kTile];
  const int tiles_of_maps = (shape.maps + kTile - 1) / kTile;
  const int group = blockIdx.y / tiles_of_maps;
  const int map = blockIdx.y % tiles_of_maps * kTile + threadIdx.y;  // output channel within the group
  const int pixel = blockIdx.x * kTile + threadIdx.x, pixels = shape.p * shape.q;
  const int terms = shape.channels * shape.r * shape.s;
  const int top = pixel / shape.q * shape.stride_h - shape.pad_top;
  const int left = pixel % shape.q * shape.stride_w - shape.pad_left;
  const float* filter = w + (group * shape.maps + map) * terms;

  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    const float* image = x + (n * shape.c + group * shape.channels) * shape.h * shape.w;
    float sum = 0;
    for (int first = 0; first < terms; first += kTile) {
      const int along = first + threadIdx.x, down = first + threadIdx.y;
      tile_w[threadIdx.y][threadIdx.x] = map < shape.maps && along < terms ? filter[along] : 0;
      tile_x[threadIdx.y][threadIdx.x] = down < terms && pixel < pixels ? unrolled(image, shape, down, top, left) : 0;
      __syncthreads();
      const int staged = min(kTile, terms - first);  // skip the zero padding of the last tile
      for (int i = 0; i < staged; ++i) sum += tile_w[threadIdx.y][i] * tile_x[i][threadIdx.x];
      __syncthreads();
    }
    if (map < shape.maps && pixel < pixels) y[(n * shape.k + group * shape.maps + map) * pixels + pixel] = sum;
  }
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  if (ceil_div(step.problem.maps_per_group(), kTile) * step.problem.groups > kMostBlocksInZ) {
    return "too many groups and output channels for one grid";
  }
  return std::nullopt;
}

void launch_fused(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const dim3 grid(ceil_div(problem.p() * problem.q(), kTile),
                  ceil_div(problem.maps_per_group(), kTile) * problem.groups, std::min(problem.n, kMostBlocksInZ));
  launch(convolve_fused, {.grid = grid, .block = dim3(kTile, kTile)}, stream.native(),
         static_cast<const float*>(args.x), args.w, args.y, kernel_shape(problem));
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_fused>,
}};

}  // namespace
}  // namespace convlab
