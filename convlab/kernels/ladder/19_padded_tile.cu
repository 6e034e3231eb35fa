// Pads the rows of the shared tile, so that a warp's two rows use different banks (rung 19).
//
// Shared memory has 32 banks: word i is in bank i % 32. A request takes as many wavefronts as the largest number of
// words it reads from one bank. The best-known case is a tile of 32 x 32 words: a warp that reads one column reads 32
// words from one bank. One more column, [32][33], shifts each row by one bank. Here the tile is 16 outputs wide, so a
// warp reads 16 words in each of two rows. For a 5x5 filter, the rows of cuda.shared_tile have 20 words:
//
//   pitch 20:  words 0-15 and 20-35, banks 0-15 and 20-31, 0-3       banks 0 to 3: two words each, two wavefronts
//   pitch 48:  words 0-15 and 48-63, banks 0-15 and 16-31            all 32 banks: one word each, one wavefront

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.padded_tile",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 19,
    .idea = "rows of the shared tile padded, so that a warp's two rows use different banks",
    .after = "cuda.shared_tile",
    .threads =
        "As cuda.shared_tile: a block of 16x16 threads computes a 16x16 tile of one output channel, and a warp two "
        "rows of it.",
    .cost =
        "2 * C * R * S flops; a request for pixels in shared memory takes one wavefront instead of two, for up to 31 "
        "more words per row of the tile.",
    .refuses = "Fused epilogues, uint8 input, and tiles that with their halo exceed the shared memory of a block.",
    .limit = "Shared memory: two loads per multiply-add, but now one wavefront each.",
};

constexpr int kTile = 16;
constexpr int64_t kMostBlocksInZ = 65535;

/// Returns the input pixels along one side of a tile, halo included.
__host__ __device__ constexpr int staged_side(int filter, int stride, int dilation) {
  return (kTile - 1) * stride + (filter - 1) * dilation + 1;
}

/// Returns the pitch of the staged rows in words: at least `columns`, and 16 more than a multiple of 32. With a stride
/// of 2, a warp reads every other word, 32 words in 16 banks: two wavefronts, however rows are padded.
__host__ __device__ constexpr int padded(int columns) { return (columns + 15) / 32 * 32 + 16; }

__global__ void __launch_bounds__(kTile* kTile)
    convolve_padded_tile(const float* x, const float* w, float* y, ConvShape shape) {
  const int rows = staged_side(shape.r, shape.stride_h, shape.dilation_h);
  const int columns = staged_side(shape.s, shape.stride_w, shape.dilation_w);
  const int pitch = padded(columns);        // a pitch of `columns` makes this cuda.shared_tile
  float* pixels = dynamic_shared<float>();  // [rows][pitch]
  float* filter = pixels + rows * pitch;    // [r][s]

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
          pixels[row * pitch + column] = inside ? plane[h * shape.w + across] : 0;
        }
      }
      for (int i = thread; i < shape.r * shape.s; i += kTile * kTile) {
        filter[i] = w[(k * shape.channels + c) * shape.r * shape.s + i];
      }
      __syncthreads();
      for (int r = 0; r < shape.r; ++r) {
        const float* row = pixels + (threadIdx.y * shape.stride_h + r * shape.dilation_h) * pitch;
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
                         padded(staged_side(shape.s, shape.stride_w, shape.dilation_w));
  return static_cast<size_t>(pixels + int64_t{shape.r} * shape.s) * sizeof(float);
}

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  const size_t bytes = shared_bytes(kernel_shape(step.problem));
  if (bytes > caps.shared_bytes_per_block) return "a tile with its halo does not fit in the shared memory of a block";
  return std::nullopt;
}

void launch_padded_tile(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const ConvShape shape = kernel_shape(problem);
  const dim3 grid(ceil_div(problem.p(), kTile) * ceil_div(problem.q(), kTile), problem.k,
                  std::min(problem.n, kMostBlocksInZ));
  launch(convolve_padded_tile, {.grid = grid, .block = dim3(kTile, kTile), .shared_bytes = shared_bytes(shape)},
         stream.native(), static_cast<const float*>(args.x), args.w, args.y, shape);
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_padded_tile>,
}};

}  // namespace
}  // namespace convlab
