// Copies the next channel's tile with cp.async while the current one is summed (rung 26).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.cp_async",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 26,
    .idea = "the next channel's tile is copied to shared memory while the current one is summed",
    .after = "cuda.shared_tile",
    .threads =
        "As cuda.shared_tile: a block of 16x16 threads computes a 16x16 tile of one output channel. It has two buffers "
        "for a tile and a filter plane. Copies go from global to shared memory without registers, and no thread waits "
        "for them before it has summed the other buffer: one barrier per channel instead of two.",
    .cost =
        "As cuda.shared_tile: 2 * C * R * S flops, about (1 + (R - 1) / 16)^2 pixels per channel from global memory.",
    .refuses =
        "Fused epilogues, uint8 input, and tiles that with their halo exceed half of the shared memory of a block.",
    .limit = "Shared memory: two loads per multiply-add. With one input channel there is no copy to overlap.",
};

constexpr int kTile = 16;
constexpr int64_t kMostBlocksInZ = 65535;

/// Returns the input pixels along one side of a tile, halo included.
__host__ __device__ constexpr int staged_side(int filter, int stride, int dilation) {
  return (kTile - 1) * stride + (filter - 1) * dilation + 1;
}

__global__ void __launch_bounds__(kTile* kTile)
    convolve_cp_async(const float* x, const float* w, float* y, ConvShape shape) {
  const int rows = staged_side(shape.r, shape.stride_h, shape.dilation_h);
  const int columns = staged_side(shape.s, shape.stride_w, shape.dilation_w);
  const int pixels = rows * columns, weights = shape.r * shape.s;
  float* buffers = dynamic_shared<float>();  // [2][pixels [rows][columns], weights [r][s]]

  const int tiles_across = (shape.q + kTile - 1) / kTile;
  const int first_p = blockIdx.x / tiles_across * kTile, first_q = blockIdx.x % tiles_across * kTile;
  const int p = first_p + threadIdx.y, q = first_q + threadIdx.x, k = blockIdx.y;
  const int thread = threadIdx.y * kTile + threadIdx.x;
  const int first_channel = k / shape.maps * shape.channels;

  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    // Starts to copy channel c. Pixels outside the image are not read: all four bytes are filled with zeros.
    const auto begin_copying = [&](int c) {
      const float* plane = x + ((n * shape.c + first_channel + c) * shape.h) * shape.w;
      float* to = buffers + c % 2 * (pixels + weights);
      for (int row = threadIdx.y; row < rows; row += kTile) {
        const int h = first_p * shape.stride_h + row - shape.pad_top;
        for (int column = threadIdx.x; column < columns; column += kTile) {
          const int across = first_q * shape.stride_w + column - shape.pad_left;
          const bool inside = h >= 0 && h < shape.h && across >= 0 && across < shape.w;
          __pipeline_memcpy_async(to + row * columns + column, inside ? plane + h * shape.w + across : plane,
                                  sizeof(float), inside ? 0 : sizeof(float));
        }
      }
      for (int i = thread; i < weights; i += kTile * kTile) {
        __pipeline_memcpy_async(to + pixels + i, w + (k * shape.channels + c) * weights + i, sizeof(float));
      }
      __pipeline_commit();
    };

    float sum = 0;
    begin_copying(0);
    for (int c = 0; c < shape.channels; ++c) {
      __pipeline_wait_prior(0);  // this thread's copies of channel c have arrived
      __syncthreads();           // so have all others, and no thread still reads the other buffer
      if (c + 1 < shape.channels) begin_copying(c + 1);

      const float* tile = buffers + c % 2 * (pixels + weights);
      const float* filter = tile + pixels;
      for (int r = 0; r < shape.r; ++r) {
        const float* row = tile + (threadIdx.y * shape.stride_h + r * shape.dilation_h) * columns;
        for (int s = 0; s < shape.s; ++s) {
          sum += row[threadIdx.x * shape.stride_w + s * shape.dilation_w] * filter[r * shape.s + s];
        }
      }
    }
    if (p < shape.p && q < shape.q) y[((n * shape.k + k) * shape.p + p) * shape.q + q] = sum;
    __syncthreads();  // the next image starts with buffer 0
  }
}

size_t shared_bytes(const ConvShape& shape) {
  const int64_t pixels = int64_t{staged_side(shape.r, shape.stride_h, shape.dilation_h)} *
                         staged_side(shape.s, shape.stride_w, shape.dilation_w);
  return 2 * static_cast<size_t>(pixels + int64_t{shape.r} * shape.s) * sizeof(float);
}

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  const size_t bytes = shared_bytes(kernel_shape(step.problem));
  if (bytes > caps.shared_bytes_per_block) {
    return "two tiles with their halos do not fit in the shared memory of a block";
  }
  return std::nullopt;
}

void launch_cp_async(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const ConvShape shape = kernel_shape(problem);
  const dim3 grid(ceil_div(problem.p(), kTile) * ceil_div(problem.q(), kTile), problem.k,
                  std::min(problem.n, kMostBlocksInZ));
  launch(convolve_cp_async, {.grid = grid, .block = dim3(kTile, kTile), .shared_bytes = shared_bytes(shape)},
         stream.native(), static_cast<const float*>(args.x), args.w, args.y, shape);
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_cp_async>,
}};

}  // namespace
}  // namespace convlab
