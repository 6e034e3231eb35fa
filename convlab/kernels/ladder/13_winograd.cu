// Convolves with Winograd's F(2x2, r x r): fewer multiplications by interpolation (rung 13).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.winograd",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::transform,
    .rung = 13,
    .idea = "F(2x2, r x r): fewer multiplications by interpolation",
    .after = "cuda.unroll_gemm",
    .threads =
        "Prepare: one thread per filter plane. Transform: one thread per input tile and channel. Multiply: one thread "
        "per tile and a few output channels, which sums over the input channels in registers and transforms the result "
        "back.",
    .cost =
        "Per output with R = 5: 18 flops per channel instead of 50, and the transforms; the transformed image is 9 "
        "times as large as the image, and images are processed in chunks that stay in L2.",
    .refuses =
        "Fused epilogues, uint8 input, strides, dilation, groups, and filters other than 3x3 and 5x5: at 7x7 the error "
        "is twice the limit for fp32 (2e-6 of the result, relative L2).",
    .limit =
        "L2 traffic of the transformed image. Methods: Toom and Cook; Winograd, 1980; Lavin and Gray, \"Fast "
        "Algorithms for Convolutional Neural Networks\", 2016.",
};

constexpr int kThreads = 128;
constexpr int kOutputs = 2;  // outputs along each side of a tile
constexpr int kSummed = 8;   // input channels per partial sum: the inverse transform amplifies rounding errors
constexpr int64_t kChunkBytes = int64_t{24} << 20;

/// Interpolation at T - 1 points and at infinity, with T = kTile: y = A' [(G w) * (B' x)] along one side. A' is A
/// transposed, and * multiplies elementwise.
template <int kFilter>
struct Transform {
  static constexpr int kTile = kFilter + kOutputs - 1;
  float inverse[kOutputs][kTile] = {};  // A'
  float filter[kTile][kFilter] = {};    // G
  float image[kTile][kTile] = {};       // B'
};

template <int kFilter>
__host__ __device__ constexpr Transform<kFilter> make_transform() {
  constexpr int kTile = kFilter + kOutputs - 1;
  constexpr double kPoints[] = {0, 1, -1, 0.5, -2};
  Transform<kFilter> transform;
  for (int j = 0; j < kTile; ++j) {
    const bool infinity = j == kTile - 1;
    double polynomial[kTile + 1] = {1};  // the product of (t - point) over all finite points except the j-th
    double norm = 1;
    for (int i = 0, degree = 0; i < kTile - 1; ++i) {
      if (i == j) continue;
      for (int power = ++degree; power >= 0; --power) {
        polynomial[power] = (power > 0 ? polynomial[power - 1] : 0) - kPoints[i] * polynomial[power];
      }
      if (!infinity) norm *= kPoints[j] - kPoints[i];
    }
    for (int i = 0; i < kTile; ++i) transform.image[j][i] = static_cast<float>(polynomial[i]);
    double power = 1;
    for (int i = 0; i < kFilter; ++i) {
      transform.filter[j][i] = infinity ? i == kFilter - 1 : static_cast<float>(power / norm);
      if (i < kOutputs) transform.inverse[i][j] = infinity ? i == kOutputs - 1 : static_cast<float>(power);
      if (!infinity) power *= kPoints[j];
    }
  }
  return transform;
}

/// Computes prepared[k][c][tile * tile] = G w G' in double; prepare() launches it once.
template <int kFilter>
__global__ void __launch_bounds__(kThreads) transform_filters(const float* w, float* prepared, int planes) {
  constexpr auto kTransform = make_transform<kFilter>();
  constexpr int kTile = kTransform.kTile;
  const int plane = blockIdx.x * kThreads + threadIdx.x;
  if (plane >= planes) return;
  double rows[kTile][kFilter];
  for (int i = 0; i < kTile; ++i) {
    for (int s = 0; s < kFilter; ++s) {
      double sum = 0;
      for (int r = 0; r < kFilter; ++r) {
        sum += static_cast<double>(kTransform.filter[i][r]) * w[(plane * kFilter + r) * kFilter + s];
      }
      rows[i][s] = sum;
    }
  }
  for (int i = 0; i < kTile; ++i) {
    for (int j = 0; j < kTile; ++j) {
      double sum = 0;
      for (int s = 0; s < kFilter; ++s) sum += rows[i][s] * kTransform.filter[j][s];
      prepared[(plane * kTile + i) * kTile + j] = static_cast<float>(sum);
    }
  }
}

/// Computes transformed[c][tile * tile][tiles of the chunk] = B' x B. blockIdx.y is the input channel.
template <int kFilter>
__global__ void __launch_bounds__(kThreads)
    transform_images(const float* x, float* transformed, ConvShape shape, int tiles) {
  constexpr auto kTransform = make_transform<kFilter>();
  constexpr int kTile = kTransform.kTile;
  const int tile = blockIdx.x * kThreads + threadIdx.x, c = blockIdx.y;
  if (tile >= tiles) return;
  const int across = (shape.q + kOutputs - 1) / kOutputs, down = (shape.p + kOutputs - 1) / kOutputs;
  const int top = tile / across % down * kOutputs - shape.pad_top, left = tile % across * kOutputs - shape.pad_left;
  const float* plane = x + (static_cast<int64_t>(tile / across / down) * shape.c + c) * shape.h * shape.w;

  float columns[kTile][kTile];
#pragma unroll
  for (int j = 0; j < kTile; ++j) {
    float pixel[kTile];
#pragma unroll
    for (int i = 0; i < kTile; ++i) {
      const int h = top + i, at = left + j;
      pixel[i] = h >= 0 && h < shape.h && at >= 0 && at < shape.w ? plane[h * shape.w + at] : 0;
    }
#pragma unroll
    for (int i = 0; i < kTile; ++i) {
      float sum = 0;
#pragma unroll
      for (int m = 0; m < kTile; ++m) sum += kTransform.image[i][m] * pixel[m];
      columns[i][j] = sum;
    }
  }
#pragma unroll
  for (int i = 0; i < kTile; ++i) {
#pragma unroll
    for (int j = 0; j < kTile; ++j) {
      float sum = 0;
#pragma unroll
      for (int m = 0; m < kTile; ++m) sum += columns[i][m] * kTransform.image[j][m];
      transformed[(static_cast<int64_t>(c) * kTile * kTile + i * kTile + j) * tiles + tile] = sum;
    }
  }
}

/// Sums the products over the input channels and applies the inverse transform. blockIdx.y is a group of kMaps output
/// channels.
template <int kFilter, int kMaps>
__global__ void __launch_bounds__(kThreads)
    multiply_and_invert(const float* transformed, const float* prepared, float* y, ConvShape shape, int tiles) {
  constexpr auto kTransform = make_transform<kFilter>();
  constexpr int kTile = kTransform.kTile;
  const int tile = blockIdx.x * kThreads + threadIdx.x, first_map = blockIdx.y * kMaps;
  if (tile >= tiles) return;
  float product[kMaps][kTile][kTile] = {};
  for (int first = 0; first < shape.c; first += kSummed) {
    float part[kMaps][kTile][kTile] = {};
    for (int c = first; c < min(first + kSummed, shape.c); ++c) {
      const float* image = transformed + static_cast<int64_t>(c) * kTile * kTile * tiles + tile;
#pragma unroll
      for (int i = 0; i < kTile; ++i) {
#pragma unroll
        for (int j = 0; j < kTile; ++j) {
          const float value = image[static_cast<int64_t>(i * kTile + j) * tiles];
#pragma unroll
          for (int map = 0; map < kMaps; ++map) {
            const int k = min(first_map + map, shape.k - 1);  // past the last output channel: computed, not stored
            part[map][i][j] += value * prepared[((k * shape.c + c) * kTile + i) * kTile + j];
          }
        }
      }
    }
#pragma unroll
    for (int map = 0; map < kMaps; ++map) {
#pragma unroll
      for (int i = 0; i < kTile; ++i) {
#pragma unroll
        for (int j = 0; j < kTile; ++j) product[map][i][j] += part[map][i][j];
      }
    }
  }
  const int across = (shape.q + kOutputs - 1) / kOutputs, down = (shape.p + kOutputs - 1) / kOutputs;
  const int p = tile / across % down * kOutputs, q = tile % across * kOutputs;
#pragma unroll
  for (int map = 0; map < kMaps; ++map) {
    if (first_map + map >= shape.k) break;
    float* plane = y + (static_cast<int64_t>(tile / across / down) * shape.k + first_map + map) * shape.p * shape.q;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      float row[kTile];
#pragma unroll
      for (int j = 0; j < kTile; ++j) {
        row[j] = 0;
#pragma unroll
        for (int m = 0; m < kTile; ++m) row[j] += kTransform.inverse[i][m] * product[map][m][j];
      }
#pragma unroll
      for (int j = 0; j < kOutputs; ++j) {
        float sum = 0;
#pragma unroll
        for (int m = 0; m < kTile; ++m) sum += row[m] * kTransform.inverse[j][m];
        if (p + i < shape.p && q + j < shape.q) plane[(p + i) * shape.q + q + j] = sum;
      }
    }
  }
}

int64_t tile_side(const ConvProblem& problem) { return problem.r + kOutputs - 1; }

int64_t tiles_of_image(const ConvProblem& problem) {
  return ceil_div(problem.p(), kOutputs) * ceil_div(problem.q(), kOutputs);
}

int64_t transformed_bytes(const ConvProblem& problem) {  // per image
  return problem.c * tile_side(problem) * tile_side(problem) * tiles_of_image(problem) *
         static_cast<int64_t>(sizeof(float));
}

int64_t images_in_chunk(const ConvProblem& problem) {
  return std::clamp<int64_t>(kChunkBytes / transformed_bytes(problem), 1, problem.n);
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  const ConvProblem& problem = step.problem;
  return static_cast<size_t>(problem.k * problem.c * tile_side(problem) * tile_side(problem)) * sizeof(float);
}

size_t workspace_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(images_in_chunk(step.problem) * transformed_bytes(step.problem));
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_dense(step)) return refusal;
  const ConvProblem& problem = step.problem;
  if (problem.r != problem.s || (problem.r != 3 && problem.r != 5)) {
    return "filter must be 3x3 or 5x5: larger ones exceed the error of fp32";
  }
  if (problem.c > 65535) return "at most 65535 input channels are supported";
  return std::nullopt;
}

template <int kFilter>
void prepare_filter(const ConvArgs& args, Stream& stream) {
  const auto planes = static_cast<int>(args.step.problem.k * args.step.problem.c);
  launch(transform_filters<kFilter>, {.grid = dim3(ceil_div(planes, kThreads)), .block = kThreads}, stream.native(),
         args.w, static_cast<float*>(args.prepared), planes);
}

void prepare(const ConvArgs& args, Stream& stream) {
  args.step.problem.r == 3 ? prepare_filter<3>(args, stream) : prepare_filter<5>(args, stream);
}

template <int kFilter, int kMaps>
void launch_filter(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const ConvShape shape = kernel_shape(problem);
  const int64_t chunk = images_in_chunk(problem);
  auto* transformed = static_cast<float*>(args.workspace);
  for (int64_t n = 0; n < problem.n; n += chunk) {
    const auto tiles = static_cast<int>(std::min(chunk, problem.n - n) * tiles_of_image(problem));
    const int64_t blocks = ceil_div(tiles, kThreads);
    launch(transform_images<kFilter>, {.grid = dim3(blocks, shape.c), .block = kThreads}, stream.native(),
           static_cast<const float*>(args.x) + n * problem.c * problem.h * problem.w, transformed, shape, tiles);
    launch(multiply_and_invert<kFilter, kMaps>, {.grid = dim3(blocks, ceil_div(problem.k, kMaps)), .block = kThreads},
           stream.native(), transformed, static_cast<const float*>(args.prepared),
           args.y + n * problem.k * problem.p() * problem.q(), shape, tiles);
  }
}

void launch_winograd(const ConvArgs& args, Stream& stream) {
  // As many output channels per thread as registers can hold the products of.
  args.step.problem.r == 3 ? launch_filter<3, 2>(args, stream) : launch_filter<5, 1>(args, stream);
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<prepared_bytes>,
    .workspace_bytes = of_conv<workspace_bytes>,
    .prepare = of_conv<prepare>,
    .launch = of_conv<launch_winograd>,
}};

}  // namespace
}  // namespace convlab
