// Keeps weights in shared memory, and pixels and sums in registers (rung 21).
//
// Both operands of a matrix product should be close to the arithmetic units. In cuda.per_layer both are in shared
// memory, and each multiply-add loads one value of each. Here only the weights are in shared memory: a thread computes
// a whole column of the result, one pixel for all output channels of the tile. No other thread needs the pixels that it
// multiplies, so they stay in its registers. A term is one element of the reduction over C * R * S.
//
//                                      thread's column of pixels:  8 terms in registers
//   tile of weights in shared memory
//   [8 terms][output channels]:        its column of results:      a sum per output channel, in registers
//   all threads read the same four at a time

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.joint_tile",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 21,
    .idea = "joint register and shared tiling: weights in shared memory, pixels and sums in registers",
    .after = "cuda.per_layer",
    .threads =
        "A block of 128 threads computes 128 pixels of M output channels, one pixel of all M channels per thread; M is "
        "4, 8, 12, 16 or 24, whichever wastes the fewest channels.",
    .cost =
        "2 * C * R * S flops, C * R * S rounded up to 8; for M multiply-adds a thread loads one pixel from global "
        "memory and M / 4 float4 of weights, which a warp shares, from shared memory.",
    .refuses = "Fused epilogues, uint8 input, and more than 65535 tiles of output channels.",
    .limit = "Instructions: about twenty locate and load a pixel, which is then multiplied by M weights.",
};

constexpr int kThreads = 128;  // pixels per block
constexpr int kTerms = 8;      // per tile
constexpr int kTilesOfMaps[] = {4, 8, 12, 16, 24};
constexpr int64_t kMostBlocksInZ = 65535;

/// A position in the reduction, term = (c * R + r) * S + s.
struct Term {
  int c = 0, r = 0, s = 0;

  __device__ void next(const ConvShape& shape) {
    if (++s < shape.s) return;
    s = 0;
    if (++r < shape.r) return;
    r = 0;
    ++c;
  }
};

template <int kMaps>
__global__ void __launch_bounds__(kThreads)
    convolve_joint(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, ConvShape shape) {
  __shared__ float4 tile_w[kTerms][kMaps / 4];
  const int tiles_of_maps = (shape.maps + kMaps - 1) / kMaps;
  const int group = blockIdx.y / tiles_of_maps, first_map = blockIdx.y % tiles_of_maps * kMaps;  // within the group
  const int pixel = blockIdx.x * kThreads + threadIdx.x, pixels = shape.p * shape.q;
  const int terms = shape.channels * shape.r * shape.s;
  const int top = pixel / shape.q * shape.stride_h - shape.pad_top;
  const int left = pixel % shape.q * shape.stride_w - shape.pad_left;
  const float* filters = w + (group * shape.maps + first_map) * terms;

  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    const float* image = x + (n * shape.c + group * shape.channels) * shape.h * shape.w;
    float sum[kMaps] = {};
    Term term;
    for (int first = 0; first < terms; first += kTerms) {
      // Fill with zeros past the last term and the last output channel. Pixels are zero there, too: 0 * NaN is NaN.
      for (int i = threadIdx.x; i < kTerms * kMaps; i += kThreads) {
        const int map = i / kTerms, along = i % kTerms;
        const bool exists = first_map + map < shape.maps && first + along < terms;
        reinterpret_cast<float*>(tile_w[along])[map] = exists ? filters[map * terms + first + along] : 0;
      }
      float value[kTerms];
#pragma unroll
      for (int i = 0; i < kTerms; ++i) {
        const int h = top + term.r * shape.dilation_h, across = left + term.s * shape.dilation_w;
        const bool inside = first + i < terms && pixel < pixels && static_cast<unsigned>(h) < shape.h &&
                            static_cast<unsigned>(across) < shape.w;
        value[i] = inside ? image[(term.c * shape.h + h) * shape.w + across] : 0;
        term.next(shape);
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kTerms; ++i) {
#pragma unroll
        for (int four = 0; four < kMaps / 4; ++four) {
          const float4 weight = tile_w[i][four];
          sum[4 * four + 0] += weight.x * value[i];
          sum[4 * four + 1] += weight.y * value[i];
          sum[4 * four + 2] += weight.z * value[i];
          sum[4 * four + 3] += weight.w * value[i];
        }
      }
      __syncthreads();
    }
    float* to = y + (n * shape.k + group * shape.maps + first_map) * pixels + pixel;
#pragma unroll
    for (int map = 0; map < kMaps; ++map) {
      if (first_map + map < shape.maps && pixel < pixels) to[map * pixels] = sum[map];
    }
  }
}

/// Returns the tile that wastes the fewest output channels; on a tie, the largest.
int tile_of_maps(int64_t maps) {
  int best = kTilesOfMaps[0];
  for (int tile : kTilesOfMaps) {
    if (round_up(maps, tile) <= round_up(maps, best)) best = tile;
  }
  return best;
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  const int64_t maps = step.problem.maps_per_group();
  if (ceil_div(maps, tile_of_maps(maps)) * step.problem.groups > kMostBlocksInZ) {
    return "too many groups and output channels for one grid";
  }
  return std::nullopt;
}

void launch_joint(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const int tile = tile_of_maps(problem.maps_per_group());
  const dim3 grid(ceil_div(problem.p() * problem.q(), kThreads),
                  ceil_div(problem.maps_per_group(), tile) * problem.groups, std::min(problem.n, kMostBlocksInZ));
  const auto with = [&](auto kernel) {
    launch(kernel, {.grid = grid, .block = kThreads}, stream.native(), static_cast<const float*>(args.x), args.w,
           args.y, kernel_shape(problem));
  };
  switch (tile) {
    case 4:
      return with(convolve_joint<4>);
    case 8:
      return with(convolve_joint<8>);
    case 12:
      return with(convolve_joint<12>);
    case 16:
      return with(convolve_joint<16>);
    default:
      return with(convolve_joint<24>);
  }
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_joint>,
}};

}  // namespace
}  // namespace convlab
