// Convolves by FFT in tiles of 16x16: transform, multiply, transform back (rung 14).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.fft",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::transform,
    .rung = 14,
    .idea = "transform, multiply, transform back, tiled",
    .after = "cuda.unroll_gemm",
    .threads =
        "A block of 256 threads computes one tile, one frequency per thread. Prepare: one block per filter plane. "
        "Transform: one block per tile and input channel. Multiply: one block per tile and output channel, which sums "
        "the products over the input channels and transforms them back.",
    .cost =
        "Per tile: two transforms of 8 radix-2 stages and one complex multiply-add per channel; (17 - R)(17 - S) of "
        "the 256 outputs are valid (overlap-save), so small filters waste least.",
    .refuses = "Fused epilogues, uint8 input, strides, dilation, groups, and filters larger than 15x15.",
    .limit = "L2 traffic of the complex spectra (8 bytes per frequency for 4 bytes per pixel), and shared memory.",
};

constexpr int kTile = 16, kStages = 4;
constexpr int kFrequencies = kTile * kTile;
constexpr int64_t kChunkBytes = int64_t{24} << 20;
constexpr int64_t kMostBlocksInYZ = 65535;

/// cos(2 pi i / 16); the sine is the same table shifted by a quarter period.
__constant__ float kCosine[kTile] = {1.0f,  0.92387953251128674f,  0.70710678118654752f,  0.38268343236508977f,
                                     0.0f,  -0.38268343236508977f, -0.70710678118654752f, -0.92387953251128674f,
                                     -1.0f, -0.92387953251128674f, -0.70710678118654752f, -0.38268343236508977f,
                                     0.0f,  0.38268343236508977f,  0.70710678118654752f,  0.92387953251128674f};

/// Computes the 2-D FFT of the block's tile; each thread holds one element. Transforms along rows, then along columns,
/// each in Stockham order, which needs no bit reversal. `sign` is -1 for the forward and 1 for the inverse transform
/// (not scaled).
__device__ float2 transform_tile(float2 value, float sign, float2 (&tile)[kTile][kTile]) {
  const int row = threadIdx.x / kTile, column = threadIdx.x % kTile;
  tile[row][column] = value;
  for (int stage = 0; stage < 2 * kStages; ++stage) {
    __syncthreads();
    const bool along_row = stage < kStages;
    const int i = along_row ? column : row;
    const int half = 1 << stage % kStages;  // length of the transforms that this stage combines
    const int block = i / (2 * half), within = i % half;
    const int from = block * half + within;
    const float2 a = along_row ? tile[row][from] : tile[from][column];
    const float2 b = along_row ? tile[row][from + kTile / 2] : tile[from + kTile / 2][column];
    const int angle = within * (kTile / (2 * half));
    const float cosine = kCosine[angle], sine = sign * kCosine[(angle + 3 * kTile / 4) % kTile];
    const float side = i % (2 * half) < half ? 1.0f : -1.0f;
    value = make_float2(a.x + side * (cosine * b.x - sine * b.y), a.y + side * (cosine * b.y + sine * b.x));
    __syncthreads();
    tile[row][column] = value;
  }
  __syncthreads();
  return value;
}

/// Computes prepared[k][c][frequency], the conjugate spectrum of each filter plane: CNNs correlate.
__global__ void __launch_bounds__(kFrequencies) transform_filters(const float* w, float2* prepared, ConvShape shape) {
  __shared__ float2 tile[kTile][kTile];
  const int r = threadIdx.x / kTile, s = threadIdx.x % kTile;
  const bool inside = r < shape.r && s < shape.s;
  const float weight = inside ? w[(static_cast<int64_t>(blockIdx.x) * shape.r + r) * shape.s + s] : 0;
  const float2 spectrum = transform_tile(make_float2(weight, 0), -1, tile);
  prepared[static_cast<int64_t>(blockIdx.x) * kFrequencies + threadIdx.x] = make_float2(spectrum.x, -spectrum.y);
}

/// Computes spectra[tile of the chunk][c][frequency]. blockIdx.y is the input channel.
__global__ void __launch_bounds__(kFrequencies) transform_images(const float* x, float2* spectra, ConvShape shape) {
  __shared__ float2 tile[kTile][kTile];
  const int step_h = kTile - shape.r + 1, step_w = kTile - shape.s + 1;
  const int across = (shape.q + step_w - 1) / step_w, down = (shape.p + step_h - 1) / step_h;
  const int h = blockIdx.x / across % down * step_h - shape.pad_top + threadIdx.x / kTile;
  const int at = blockIdx.x % across * step_w - shape.pad_left + threadIdx.x % kTile;
  const int64_t plane = static_cast<int64_t>(blockIdx.x / across / down) * shape.c + blockIdx.y;
  const bool inside = h >= 0 && h < shape.h && at >= 0 && at < shape.w;
  const float pixel = inside ? x[(plane * shape.h + h) * shape.w + at] : 0;
  const float2 spectrum = transform_tile(make_float2(pixel, 0), -1, tile);
  spectra[(static_cast<int64_t>(blockIdx.x) * shape.c + blockIdx.y) * kFrequencies + threadIdx.x] = spectrum;
}

/// Sums the products of spectra over the input channels and transforms the sums back. blockIdx.x is the tile of the
/// chunk, blockIdx.y the output channel.
__global__ void __launch_bounds__(kFrequencies)
    multiply_and_invert(const float2* spectra, const float2* prepared, float* y, ConvShape shape) {
  __shared__ float2 tile[kTile][kTile];
  float2 sum = make_float2(0, 0);
  for (int c = 0; c < shape.c; ++c) {
    const float2 a = spectra[(static_cast<int64_t>(blockIdx.x) * shape.c + c) * kFrequencies + threadIdx.x];
    const float2 b = prepared[(static_cast<int64_t>(blockIdx.y) * shape.c + c) * kFrequencies + threadIdx.x];
    sum.x += a.x * b.x - a.y * b.y;
    sum.y += a.x * b.y + a.y * b.x;
  }
  const float value = transform_tile(sum, 1, tile).x * (1.0f / kFrequencies);

  const int step_h = kTile - shape.r + 1, step_w = kTile - shape.s + 1;
  const int across = (shape.q + step_w - 1) / step_w, down = (shape.p + step_h - 1) / step_h;
  const int row = threadIdx.x / kTile, column = threadIdx.x % kTile;
  const int p = blockIdx.x / across % down * step_h + row, q = blockIdx.x % across * step_w + column;
  const int64_t plane = static_cast<int64_t>(blockIdx.x / across / down) * shape.k + blockIdx.y;
  if (row < step_h && column < step_w && p < shape.p && q < shape.q) y[(plane * shape.p + p) * shape.q + q] = value;
}

int64_t tiles_of_image(const ConvProblem& problem) {
  return ceil_div(problem.p(), kTile - problem.r + 1) * ceil_div(problem.q(), kTile - problem.s + 1);
}

int64_t spectra_bytes(const ConvProblem& problem) {  // per image
  return tiles_of_image(problem) * problem.c * kFrequencies * static_cast<int64_t>(sizeof(float2));
}

int64_t images_in_chunk(const ConvProblem& problem) {
  return std::clamp<int64_t>(kChunkBytes / spectra_bytes(problem), 1, problem.n);
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(step.problem.k * step.problem.c * kFrequencies) * sizeof(float2);
}

size_t workspace_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(images_in_chunk(step.problem) * spectra_bytes(step.problem));
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_dense(step)) return refusal;
  if (step.problem.r >= kTile || step.problem.s >= kTile) return "filter must be at most 15x15";
  if (step.problem.c > kMostBlocksInYZ) return "at most 65535 input channels are supported";
  return std::nullopt;
}

void prepare(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  launch(transform_filters, {.grid = dim3(problem.k * problem.c), .block = kFrequencies}, stream.native(), args.w,
         static_cast<float2*>(args.prepared), kernel_shape(problem));
}

void launch_fft(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const ConvShape shape = kernel_shape(problem);
  const int64_t chunk = images_in_chunk(problem);
  auto* spectra = static_cast<float2*>(args.workspace);
  for (int64_t n = 0; n < problem.n; n += chunk) {
    const int64_t tiles = std::min(chunk, problem.n - n) * tiles_of_image(problem);
    launch(transform_images, {.grid = dim3(tiles, shape.c), .block = kFrequencies}, stream.native(),
           static_cast<const float*>(args.x) + n * problem.c * problem.h * problem.w, spectra, shape);
    launch(multiply_and_invert, {.grid = dim3(tiles, shape.k), .block = kFrequencies}, stream.native(), spectra,
           static_cast<const float2*>(args.prepared), args.y + n * problem.k * problem.p() * problem.q(), shape);
  }
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<prepared_bytes>,
    .workspace_bytes = of_conv<workspace_bytes>,
    .prepare = of_conv<prepare>,
    .launch = of_conv<launch_fft>,
}};

}  // namespace
}  // namespace convlab
