// Picks the tile shape by the layer's number of output channels (rung 8).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.per_layer",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 8,
    .idea = "different tile shapes for few and many output channels",
    .after = "cuda.fused_unroll_gemm",
    .threads =
        "A block of 32 x M threads computes a tile of M output channels x 32 pixels, one output per thread; M is 8, "
        "12, 16, 24 or 32, whichever wastes the fewest threads.",
    .cost =
        "2 * C * R * S flops; each staged pixel serves all output channels of the tile, so a layer with 12 or 24 "
        "output channels reads the image once; a tile of 16 would read it twice or compute unused channels.",
    .refuses = "Fused epilogues, uint8 input, and more than 65535 tiles of output channels.",
    .limit = "Shared memory: two loads per multiply-add.",
};

constexpr int kPixels = 32;
constexpr int kTerms = 32;  // reduction elements staged at a time; each thread of a row loads one weight
constexpr int kTilesOfMaps[] = {8, 12, 16, 24, 32};
constexpr int64_t kMostBlocksInZ = 65535;

__device__ float unrolled(const float* image, const ConvShape& shape, int term, int top, int left) {
  const int c = term / (shape.r * shape.s), r = term / shape.s % shape.r, s = term % shape.s;
  const int h = top + r * shape.dilation_h, across = left + s * shape.dilation_w;
  const bool inside = h >= 0 && h < shape.h && across >= 0 && across < shape.w;
  return inside ? image[(c * shape.h + h) * shape.w + across] : 0;
}

template <int kMaps>
__global__ void __launch_bounds__(kPixels* kMaps)
    convolve_per_layer(const float* x, const float* w, float* y, ConvShape shape) {
  __shared__ float tile_w[kMaps][kTerms];
  __shared__ float tile_x[kTerms][kPixels];
  const int tiles_of_maps = (shape.maps + kMaps - 1) / kMaps;
  const int group = blockIdx.y / tiles_of_maps;
  const int map = blockIdx.y % tiles_of_maps * kMaps + threadIdx.y;  // output channel within the group
  const int pixel = blockIdx.x * kPixels + threadIdx.x, pixels = shape.p * shape.q;
  const int terms = shape.channels * shape.r * shape.s;
  const int top = pixel / shape.q * shape.stride_h - shape.pad_top;
  const int left = pixel % shape.q * shape.stride_w - shape.pad_left;
  const float* filter = w + (group * shape.maps + map) * terms;

  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    const float* image = x + (n * shape.c + group * shape.channels) * shape.h * shape.w;
    float sum = 0;
    for (int first = 0; first < terms; first += kTerms) {
      const int along = first + threadIdx.x;
      tile_w[threadIdx.y][threadIdx.x] = map < shape.maps && along < terms ? filter[along] : 0;
      for (int i = threadIdx.y; i < kTerms; i += kMaps) {
        const bool inside = first + i < terms && pixel < pixels;
        tile_x[i][threadIdx.x] = inside ? unrolled(image, shape, first + i, top, left) : 0;
      }
      __syncthreads();
      const int staged = min(kTerms, terms - first);
      for (int i = 0; i < staged; ++i) sum += tile_w[threadIdx.y][i] * tile_x[i][threadIdx.x];
      __syncthreads();
    }
    if (map < shape.maps && pixel < pixels) y[(n * shape.k + group * shape.maps + map) * pixels + pixel] = sum;
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

void launch_per_layer(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const int tile = tile_of_maps(problem.maps_per_group());
  const dim3 grid(ceil_div(problem.p() * problem.q(), kPixels),
                  ceil_div(problem.maps_per_group(), tile) * problem.groups, std::min(problem.n, kMostBlocksInZ));
  const auto with = [&](auto kernel) {
    launch(kernel, {.grid = grid, .block = dim3(kPixels, tile)}, stream.native(), static_cast<const float*>(args.x),
           args.w, args.y, kernel_shape(problem));
  };
  switch (tile) {
    case 8:
      return with(convolve_per_layer<8>);
    case 12:
      return with(convolve_per_layer<12>);
    case 16:
      return with(convolve_per_layer<16>);
    case 24:
      return with(convolve_per_layer<24>);
    default:
      return with(convolve_per_layer<32>);
  }
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_per_layer>,
}};

}  // namespace
}  // namespace convlab
