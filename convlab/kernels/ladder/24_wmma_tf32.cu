// Multiplies on tensor cores through nvcuda::wmma, their C++ interface, in TF32 (rung 24).
//
// A warp multiplies 16 x 8 by 8 x 16 TF32 values into 16 x 16 fp32 sums. A fragment is a matrix distributed over the
// warp's lanes. Which lane holds which element is unspecified, so only these functions access it:
//
//   load_matrix_sync(a, &tile_w[map][term], pitch)      16 output channels x 8 terms from shared memory
//   load_matrix_sync(b, &tile_x[term][pixel], pitch)    8 terms x 16 pixels
//   mma_sync(sum, a, b, sum)                            2048 multiply-adds
//   store_matrix_sync(&results[map][pixel], sum, ...)   to shared memory, in row-major order
//
// The tiles are those of cuda.fused_unroll_gemm, sized for a warp's fragments. mma_sync truncates its operands to TF32,
// so they are rounded beforehand.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

namespace wmma = nvcuda::wmma;

constexpr KernelInfo kInfo{
    .name = "cuda.wmma_tf32",
    .device = kCompiledFor,
    .math = Math::tf32,
    .rung = 24,
    .idea = "matrix products by wmma, the C++ interface of tensor cores, in TF32",
    .after = "cuda.fused_unroll_gemm",
    .threads =
        "A block of 128 threads computes 128 pixels of 16 or 32 output channels: each thread stages all C * R * S "
        "inputs of one pixel, each warp multiplies for 32 pixels.",
    .cost =
        "2 * C * R * S flops at the rate of tensor cores, for 16 or 32 output channels even if there are fewer, with C "
        "* R * S rounded up to 8; a pixel is loaded once for these output channels.",
    .refuses =
        "Fused epilogues, uint8 input, more than 65535 tiles of output channels, and compute capability below 8.0.",
    .limit =
        "Staging: about twenty instructions locate, load and round a pixel, which is then multiplied for 16 or 32 "
        "output channels at once.",
};

constexpr int kThreads = 128, kWarps = kThreads / 32;
constexpr int kPixels = kThreads;  // per block
constexpr int kTerms = 32;         // reduction elements (terms) per tile
constexpr int kSide = 16;          // rows and columns of an accumulator fragment
constexpr int kDepth = 8;          // terms per mma_sync
// Row pitches, in floats. Lanes of mma.m16n8k8 read 4 terms x 8 pixels and 8 output channels x 4 terms. With these
// pitches, each of those reads uses all 32 banks.
constexpr int kPitchX = kPixels + 8, kPitchW = kTerms + 4;
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

/// A block computes kRows * 16 output channels.
template <int kRows>
__global__ void __launch_bounds__(kThreads)
    convolve_wmma(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, ConvShape shape) {
  constexpr int kMaps = kRows * kSide, kColumns = kPixels / kWarps / kSide;  // a warp has kRows x kColumns fragments
  static_assert(kMaps <= kTerms, "results must fit in tile_x");
  __shared__ __align__(32) float tile_w[kMaps][kPitchW];
  __shared__ __align__(32) float tile_x[kTerms][kPitchX];
  const int tiles_of_maps = (shape.maps + kMaps - 1) / kMaps;
  const int group = blockIdx.y / tiles_of_maps, first_map = blockIdx.y % tiles_of_maps * kMaps;  // within the group
  const int pixel = blockIdx.x * kPixels + threadIdx.x, pixels = shape.p * shape.q;
  const int terms = shape.channels * shape.r * shape.s;
  const int top = pixel / shape.q * shape.stride_h - shape.pad_top;
  const int left = pixel % shape.q * shape.stride_w - shape.pad_left;
  const int warp = threadIdx.x / 32, of_warp = warp * kColumns * kSide;  // the first pixel of the warp
  const float* filters = w + (group * shape.maps + first_map) * terms;

  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    const float* image = x + (n * shape.c + group * shape.channels) * shape.h * shape.w;
    wmma::fragment<wmma::accumulator, kSide, kSide, kDepth, float> sum[kRows][kColumns];
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
#pragma unroll
      for (int column = 0; column < kColumns; ++column) wmma::fill_fragment(sum[row][column], 0.0f);
    }
    Term term;
    for (int first = 0; first < terms; first += kTerms) {
      // Fill with zeros past the last term in both tiles: 0 * NaN is NaN.
      for (int map = warp; map < kMaps; map += kWarps) {
        const int along = threadIdx.x % 32;
        const bool exists = first_map + map < shape.maps && first + along < terms;
        tile_w[map][along] = wmma::__float_to_tf32(exists ? filters[map * terms + first + along] : 0);
      }
#pragma unroll 4
      for (int i = 0; i < kTerms; ++i) {
        const int h = top + term.r * shape.dilation_h, across = left + term.s * shape.dilation_w;
        const bool inside = term.c < shape.channels && pixel < pixels && static_cast<unsigned>(h) < shape.h &&
                            static_cast<unsigned>(across) < shape.w;
        tile_x[i][threadIdx.x] = wmma::__float_to_tf32(inside ? image[(term.c * shape.h + h) * shape.w + across] : 0);
        term.next(shape);
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kTerms; i += kDepth) {
        if (first + i >= terms) break;
        wmma::fragment<wmma::matrix_a, kSide, kSide, kDepth, wmma::precision::tf32, wmma::row_major> a[kRows];
#pragma unroll
        for (int row = 0; row < kRows; ++row) wmma::load_matrix_sync(a[row], &tile_w[row * kSide][i], kPitchW);
#pragma unroll
        for (int column = 0; column < kColumns; ++column) {
          wmma::fragment<wmma::matrix_b, kSide, kSide, kDepth, wmma::precision::tf32, wmma::row_major> b;
          wmma::load_matrix_sync(b, &tile_x[i][of_warp + column * kSide], kPitchX);
#pragma unroll
          for (int row = 0; row < kRows; ++row) wmma::mma_sync(sum[row][column], a[row], b, sum[row][column]);
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        float* results = &tile_x[row * kSide][of_warp + column * kSide];
        wmma::store_matrix_sync(results, sum[row][column], kPitchX, wmma::mem_row_major);
      }
    }
    __syncwarp();  // each warp reads only its own results
    float* to = y + (n * shape.k + group * shape.maps + first_map) * pixels + pixel;
    for (int map = 0; pixel < pixels && map < min(kMaps, shape.maps - first_map); ++map) {
      to[map * pixels] = tile_x[map][threadIdx.x];
    }
    __syncthreads();  // the next image overwrites tile_x
  }
}

/// Returns whether a block computes 16 output channels instead of 32, because that wastes fewer.
bool narrow(const ConvProblem& problem) {
  const int64_t maps = problem.maps_per_group();
  return round_up(maps, kSide) < round_up(maps, 2 * kSide);
}

int64_t tiles_of_maps(const ConvProblem& problem) {
  return ceil_div(problem.maps_per_group(), narrow(problem) ? kSide : 2 * kSide) * problem.groups;
}

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  if (caps.compute_capability < 80) return "compute capability 8.0 or later is required";
  if (tiles_of_maps(step.problem) > kMostBlocksInZ) return "too many groups and output channels for one grid";
  return std::nullopt;
}

void launch_wmma(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const dim3 grid(ceil_div(problem.p() * problem.q(), kPixels), tiles_of_maps(problem),
                  std::min(problem.n, kMostBlocksInZ));
  launch(narrow(problem) ? convolve_wmma<1> : convolve_wmma<2>, {.grid = grid, .block = kThreads}, stream.native(),
         static_cast<const float*>(args.x), args.w, args.y, kernel_shape(problem));
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_wmma>,
}};

}  // namespace
}  // namespace convlab
