// Reads the filters from constant memory and the input tile from shared memory (rung 3).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.constant_weights",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 3,
    .idea = "shared input tile, filters in constant memory",
    .after = "cuda.shared_tile",
    .threads = "As cuda.shared_tile: a block of 16x16 threads computes a 16x16 tile of one output channel.",
    .cost =
        "2 * C * R * S flops; filters come from the constant cache, which broadcasts one word to a whole warp: all "
        "threads of a block need the same weight at the same time.",
    .refuses =
        "Fused epilogues, uint8 input, filters larger than 64 KiB, and tiles that exceed the shared memory of a block.",
    .limit = "Shared memory, with one load per multiply-add, and the barriers around each staged channel.",
};

constexpr int kTile = 16;
constexpr int64_t kMostBlocksInZ = 65535;
constexpr int64_t kMostWeights = 64 * 1024 / sizeof(float);

/// Shared by all layers: each launch first copies its own filters here, on its stream.
__constant__ float filters[kMostWeights];

__host__ __device__ constexpr int staged_side(int filter, int stride, int dilation) {
  return (kTile - 1) * stride + (filter - 1) * dilation + 1;
}

__global__ void __launch_bounds__(kTile* kTile) convolve_constant_weights(const float* x, float* y, ConvShape shape) {
  const int rows = staged_side(shape.r, shape.stride_h, shape.dilation_h);
  const int columns = staged_side(shape.s, shape.stride_w, shape.dilation_w);
  float* pixels = dynamic_shared<float>();  // [rows][columns]

  const int tiles_across = (shape.q + kTile - 1) / kTile;
  const int first_p = blockIdx.x / tiles_across * kTile, first_q = blockIdx.x % tiles_across * kTile;
  const int p = first_p + threadIdx.y, q = first_q + threadIdx.x, k = blockIdx.y;
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
      __syncthreads();
      const float* filter = filters + (k * shape.channels + c) * shape.r * shape.s;
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
  return static_cast<size_t>(int64_t{staged_side(shape.r, shape.stride_h, shape.dilation_h)} *
                             staged_side(shape.s, shape.stride_w, shape.dilation_w)) *
         sizeof(float);
}

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  if (step.problem.filter_count() > kMostWeights) return "the filters do not fit in 64 KiB of constant memory";
  const size_t bytes = shared_bytes(kernel_shape(step.problem));
  if (bytes > caps.shared_bytes_per_block) return "a tile with its halo does not fit in the shared memory of a block";
  return std::nullopt;
}

void launch_constant_weights(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const ConvShape shape = kernel_shape(problem);
  copy_to_constant(filters, args.w, static_cast<size_t>(problem.filter_count()) * sizeof(float), stream.native());
  const dim3 grid(ceil_div(problem.p(), kTile) * ceil_div(problem.q(), kTile), problem.k,
                  std::min(problem.n, kMostBlocksInZ));
  launch(convolve_constant_weights, {.grid = grid, .block = dim3(kTile, kTile), .shared_bytes = shared_bytes(shape)},
         stream.native(), static_cast<const float*>(args.x), args.y, shape);
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_constant_weights>,
}};

}  // namespace
}  // namespace convlab
