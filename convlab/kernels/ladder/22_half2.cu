// Multiplies and adds in fp16 with half2, for two output channels per instruction (rung 22).
//
// A half2 holds two fp16 values in one 32-bit register, and __hfma2 multiplies and adds both at once. So output
// channels are processed in pairs: two weights of adjacent output channels, the thread's pixel twice, two sums.
//
// fp16 has 11 significant bits, and each addition rounds the sum to 11 bits. So 16 terms are summed in fp16, and that
// sum is added to a sum in fp32: a long sum has the rounding error of short ones.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.half2",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = 22,
    .idea = "half2 arithmetic: one instruction multiplies and adds for two output channels",
    .after = "cuda.joint_tile",
    .threads =
        "As in cuda.joint_tile: a block of 128 threads computes 128 pixels of M output channels, one pixel of all M "
        "channels per thread.",
    .cost =
        "2 * C * R * S flops, C * R * S rounded up to 16, in half as many instructions; then two conversions and two "
        "additions for every 16 products of two output channels; 8 bytes of shared memory hold 4 weights. Pixels or "
        "weights above 65504, or such a sum of 16 products, become infinite; those below 6e-8 become zero.",
    .refuses = "Fused epilogues, uint8 input, and more than 65535 tiles of output channels.",
    .limit =
        "Instructions: about twenty locate, load and convert a pixel, as before, which is then multiplied by M / 2 "
        "half2 weights.",
};

constexpr int kThreads = 128;  // pixels per block
constexpr int kTerms = 16;     // per tile; they are summed in fp16
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

struct alignas(8) FourWeights {
  __half2 pair[2];
};

template <int kMaps>
__global__ void __launch_bounds__(kThreads)
    convolve_half2(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, ConvShape shape) {
  __shared__ FourWeights tile_w[kTerms][kMaps / 4];
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
        const float weight = exists ? filters[map * terms + first + along] : 0;
        reinterpret_cast<__half*>(tile_w[along])[map] = __float2half_rn(weight);
      }
      __half2 value[kTerms];  // the pixel, twice
#pragma unroll
      for (int i = 0; i < kTerms; ++i) {
        const int h = top + term.r * shape.dilation_h, across = left + term.s * shape.dilation_w;
        const bool inside = first + i < terms && pixel < pixels && static_cast<unsigned>(h) < shape.h &&
                            static_cast<unsigned>(across) < shape.w;
        value[i] = __float2half2_rn(inside ? image[(term.c * shape.h + h) * shape.w + across] : 0);
        term.next(shape);
      }
      __syncthreads();
#pragma unroll
      for (int four = 0; four < kMaps / 4; ++four) {
        __half2 run[2] = {};
#pragma unroll
        for (int i = 0; i < kTerms; ++i) {
          const FourWeights weight = tile_w[i][four];
          run[0] = __hfma2(weight.pair[0], value[i], run[0]);
          run[1] = __hfma2(weight.pair[1], value[i], run[1]);
        }
        sum[4 * four + 0] += __low2float(run[0]);
        sum[4 * four + 1] += __high2float(run[0]);
        sum[4 * four + 2] += __low2float(run[1]);
        sum[4 * four + 3] += __high2float(run[1]);
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

void launch_half2(const ConvArgs& args, Stream& stream) {
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
      return with(convolve_half2<4>);
    case 8:
      return with(convolve_half2<8>);
    case 12:
      return with(convolve_half2<12>);
    case 16:
      return with(convolve_half2<16>);
    default:
      return with(convolve_half2<24>);
  }
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_half2>,
}};

}  // namespace
}  // namespace convlab
