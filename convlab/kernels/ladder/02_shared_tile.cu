// Stages an input tile and the filter in shared memory (rung 2).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.shared_tile",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 2,
    .idea = "input tile and filters staged in shared memory",
    .after = "cuda.basic",
    .threads =
        "A block of 16x16 threads computes a 16x16 tile of one output channel; blockIdx.x is the tile, y the output "
        "channel, z the image. For each input channel the block stages the pixels of the tile with their halo, and one "
        "filter plane.",
    .cost = "2 * C * R * S flops; about (1 + (R - 1) / 16)^2 pixels per channel from global memory instead of R * S.",
    .refuses = "Fused epilogues, uint8 input, and tiles that with their halo exceed the shared memory of a block.",
    .limit = "Shared memory: two loads per multiply-add, as before, but with lower latency.",
};

constexpr int kTile = 16;
constexpr int64_t kMostBlocksInZ = 65535;

/// Returns the input pixels along one side of a tile, halo included.
__host__ __device__ constexpr int staged_side(int filter, int stride, int dilation) {
  return (kTile - 1) * stride + (filter - 1) * dilation + 1;
}

__global__ void __launch_bounds__(kTile* kTile)
    convolve_shared_tile(const float* x, const float* w, float* y, ConvShape shape) {
  const int rows = staged_side(shape.r, shape.stride_h, shape.dilation_h);
  const int columns = staged_side(shape.s, shape.stride_w, shape.dilation_w);
  float* pixels = dynamic_shared<float>();  // [rows][columns]
  float* filter = pixels + rows * columns;  // [r][s]

  const int tiles_across = (shape.q + kTile - 1) / kTile;
  const int first_p = blockIdx.x / tiles_across * kTile, first_q = blockIdx.x % tiles_across * kTile;
  const int p = first_p + threadIdx.y, q = first_q + threadIdx.x, k = blockIdx.y;
  const int thread = threadIdx.y * kTile + threadIdx.x;
  const int first_channel = k / shape.maps * shape.channels;

  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    float sum = 0;
    for (int c = 0; c < shape.channels; ++c) {
      const float* plane = x + ((n * shape.c + first_channel + c) * shape.h) * shape.w;
      for (int row = threadIdx.y; row < rows; row += kTile) {
        const int h = first_p * shape.stride_h + row - shape.pad_top;
        for (int column = threadIdx.x; column < columns; column += kTile) {
          const int across = first_q * shape.stride_w + column - shape.pad_left;
          const bool inside = h >= 0 && h < shape.h && across >= 0 && across < shape.w;
          pixels[row * columns + column] = inside ? plane[h * shape.w + across] : 0;
        }
      }
      for (int i = thread; i < shape.r * shape.s; i += kTile * kTile) {
        filter[i] = w[(k * shape.channels + c) * shape.r * shape.s + i];
      }
      __syncthreads();
      for (int r = 0; r < shape.r; ++r) {
        const float* row = pixels + (threadIdx.y * shape.stride_h + r * shape.dilation_h) * columns;
        for (int s = 0; s < shape.s; ++s) {
          sum += row[threadIdx.x * shape.stride_w + s * shape.dilation_w] * filter[r * shape.s + s];
        }
      }
      __syncthreads();
    }
    if (p < shape.p && q < shape.q) y[((n * shape.k + k) * shape.p + p) * shape.q + q] = sum;
  }
}

size_t shared_bytes(const ConvShape& shape) {
  const int64_t pixels = int64_t{staged_side(shape.r, shape.stride_h, shape.dilation_h)} *
                         staged_side(shape.s, shape.stride_w, shape.dilation_w);
  return static_cast<size_t>(pixels + int64_t{shape.r} * shape.s) * sizeof(float);
}

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  const size_t bytes = shared_bytes(kernel_shape(step.problem));
  if (bytes > caps.shared_bytes_per_block) return "a tile with its halo does not fit in the shared memory of a block";
  return std::nullopt;
}

void launch_shared_tile(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const ConvShape shape = kernel_shape(problem);
  const dim3 grid(ceil_div(problem.p(), kTile) * ceil_div(problem.q(), kTile), problem.k,
                  std::min(problem.n, kMostBlocksInZ));
  launch(convolve_shared_tile, {.grid = grid, .block = dim3(kTile, kTile), .shared_bytes = shared_bytes(shape)},
         stream.native(), static_cast<const float*>(args.x), args.w, args.y, shape);
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_shared_tile>,
}};

}  // namespace
}  // namespace convlab
