// cuda.nhwc_first_fp32: a network's first layer in fp32 without tensor cores. Input is float or uint8 in nchw with few
// channels, output is nhwc. A warp computes a part of an output row by 32 output channels: a lane has 8 output channels
// of every 8th pixel. A block's warps have consecutive rows. The pixels that they read, and the filters, are in shared
// memory.

#include <type_traits>

#include <fmt/core.h>

#include "convlab/device/early_launch.cuh"
#include "convlab/device/pipeline.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_end.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_op.h"
#include "convlab/kernels/cuda/nhwc/pixel_step.cuh"
#include "convlab/kernels/cuda/nhwc/quick_activation.cuh"
#include "convlab/kernels/cuda/nhwc/tiled_filters.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nhwc_first_fp32",
    .device = kCompiledFor,
    .rung = kProductionRung,
    .idea = "few channels cannot fill tensor cores: fp32 multiply-adds from a patch in shared memory",
    .after = "cuda.nhwc_igemm_3xfp16",
    .threads =
        "A warp computes 56 pixels of an output row by 32 output channels; a lane 8 output channels of every 8th "
        "pixel.",
    .cost =
        "2 * C * R * S flops; a pixel's inputs are read once for 32 output channels, and a filter once for 8 rows of "
        "56 pixels.",
    .refuses =
        "More than 4 input channels, C * R * S above 160, groups, fused pooling, fused addition, and input layouts "
        "other than nchw.",
    .limit = "Memory with 3x3 filters, multiply-adds with 7x7.",
};

constexpr int kRows = 8, kThreads = 32 * kRows;  // output rows of a block
constexpr int kMaps = 32, kPixels = 7;           // output channels per warp; pixels per lane
constexpr int kColumns = 8 * kPixels;            // pixels per warp
constexpr int64_t kMostChannels = 4;
constexpr int64_t kMostTerms = 160;       // of the K dimension
constexpr size_t kMostBytes = 96 * 1024;  // shared memory of a block

/// Tiling of a layer. A patch is the part of each channel that a tile reads.
struct Cut {
  int channels, row_tiles, column_tiles, map_tiles, patch_rows, patch_columns;

  Cut(const ConvProblem& problem)
      : channels(static_cast<int>(problem.c)),
        row_tiles(static_cast<int>(ceil_div(problem.p(), kRows))),
        column_tiles(static_cast<int>(ceil_div(problem.q(), kColumns))),
        map_tiles(static_cast<int>(ceil_div(problem.k, kMaps))),
        patch_rows(static_cast<int>((kRows - 1) * problem.stride_h + (problem.r - 1) * problem.dilation_h + 1)),
        patch_columns(static_cast<int>((kColumns - 1) * problem.stride_w + (problem.s - 1) * problem.dilation_w + 1)) {}

  int64_t blocks(int64_t images) const { return checked_product({images, row_tiles, column_tiles, map_tiles}); }
  __host__ __device__ int patch() const { return channels * patch_rows * patch_columns; }
};

/// Returns the floats of the filters of a tile: [input channel][row][column][output channel].
int64_t tile_floats(const ConvProblem& problem) { return checked_product({problem.c, problem.r, problem.s, kMaps}); }

size_t shared_bytes(const ConvProblem& problem) {
  return static_cast<size_t>(tile_floats(problem) + Cut(problem).patch()) * sizeof(float);
}

/// conv.w: filters of each tile, in the order of tile_floats(). conv.x is not used.
template <class Input>
__global__ void __launch_bounds__(kThreads, 2)
    convolve_first(const Input* images, const PixelConvOf<float> conv, const Cut cut) {
  const ConvShape& shape = conv.shape;
  const int tile = blockIdx.x % cut.map_tiles, column_tile = blockIdx.x / cut.map_tiles % cut.column_tiles;
  const int row_tile = blockIdx.x / cut.map_tiles / cut.column_tiles % cut.row_tiles;
  const int64_t image = blockIdx.x / cut.map_tiles / cut.column_tiles / cut.row_tiles;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, octet = lane % 4, group = lane / 4;
  const int filters = cut.channels * shape.r * shape.s * kMaps;
  float *const w = dynamic_shared<float>(), *const patch = w + filters;
  const float* given = static_cast<const float*>(conv.w) + static_cast<int64_t>(tile) * filters;
  for (int i = threadIdx.x; i < filters; i += kThreads) w[i] = given[i];
  begin_in_turn();

  const int top = row_tile * kRows * shape.stride_h - shape.pad_top;
  const int left = column_tile * kColumns * shape.stride_w - shape.pad_left;
  for (int row = warp; row < cut.channels * cut.patch_rows; row += kRows) {
    const int channel = row / cut.patch_rows, h = top + row % cut.patch_rows;
    const Input* from = images + ((image * cut.channels + channel) * shape.h + h) * shape.w;
#pragma unroll 4
    for (int column = lane; column < cut.patch_columns; column += 32) {
      const bool inside = h >= 0 && h < shape.h && left + column >= 0 && left + column < shape.w;
      float* const to = patch + row * cut.patch_columns + column;
      if constexpr (std::is_same_v<Input, float>) {
        copy_async(to_shared(to), inside ? from + left + column : images, inside);
      } else {
        *to = inside ? static_cast<float>(from[left + column]) : 0;
      }
    }
  }
  wait_for_copies();
  __syncthreads();

  float sums[kPixels][8] = {};
  for (int channel = 0; channel < cut.channels; ++channel) {
    for (int r = 0; r < shape.r; ++r) {
      const int row = channel * cut.patch_rows + warp * shape.stride_h + r * shape.dilation_h;
      const float* x = patch + row * cut.patch_columns + group * shape.stride_w;
      const float* maps = w + (channel * shape.r + r) * shape.s * kMaps + octet * 8;
      for (int s = 0; s < shape.s; ++s, x += shape.dilation_w, maps += kMaps) {
        float filter[8];
        load_eight(maps, filter);
#pragma unroll
        for (int j = 0; j < kPixels; ++j) {
          const float pixel = x[8 * j * shape.stride_w];
#pragma unroll
          for (int i = 0; i < 8; ++i) sums[j][i] = fmaf(pixel, filter[i], sums[j][i]);
        }
      }
    }
  }

  const int p = row_tile * kRows + warp, map = tile * kMaps + octet * 8;
  if (p >= shape.p || map >= shape.k) return;
  float bias[8] = {};
  if (conv.bias != nullptr) load_eight(conv.bias + map, bias);
#pragma unroll
  for (int j = 0; j < kPixels; ++j) {
    const int q = column_tile * kColumns + group + 8 * j;
    if (q >= shape.q) break;
#pragma unroll
    for (int i = 0; i < 8; ++i) sums[j][i] = activated_as<float>(conv.activation, sums[j][i] + bias[i]);
    store_eight(conv.y + ((image * shape.p + p) * shape.q + q) * conv.y_step + map, sums[j]);
  }
}

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  const ConvProblem& problem = step.problem;
  if (!takes_plain(step) || problem.c > kMostChannels) {
    return fmt::format("input must be nchw with at most {} channels", kMostChannels);
  }
  if (step.output_format != kPixelFormat<float>) {
    return fmt::format("output must be {}", name_of(kPixelFormat<float>));
  }
  if (problem.groups != 1 || step.epilogue.pool || step.adds) {
    return "groups, fused pooling and fused addition are not supported";
  }
  if (problem.c * problem.r * problem.s > kMostTerms) {
    return fmt::format("C * R * S must be at most {}: tensor cores are faster for more", kMostTerms);
  }
  const size_t most = std::min(kMostBytes, caps.shared_bytes_per_block);
  if (problem.stride_w > 8 || problem.stride_h > 8 || problem.dilation_w > 64 || problem.dilation_h > 64 ||
      shared_bytes(problem) > most) {
    return fmt::format("strides and dilation are too large: an input patch must fit in {} bytes", most);
  }
  if (problem.k >= int64_t{1} << 20) return "fewer than 2^20 output channels are supported";
  return refuse_unless_pixels(problem.output_shape());
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(checked_mul(tile_floats(step.problem), Cut(step.problem).map_tiles)) * sizeof(float);
}

void prepare(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  pack_tiled_filters(args.w, args.prepared, problem.k, problem.c * problem.r * problem.s, kMaps,
                     tile_floats(problem) * Cut(problem).map_tiles, stream.native());
}

void launch_first(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  PixelConvOf<float> conv = conv_of_step<float>(args.step);
  set_addresses(args, conv);
  const Cut cut(problem);
  const LaunchShape blocks{
      .grid = cut.blocks(problem.n), .block = kThreads, .shared_bytes = shared_bytes(problem), .early = true};
  if (args.step.input_format == kRawPixels) {
    return launch(convolve_first<uint8_t>, blocks, stream.native(), static_cast<const uint8_t*>(args.x), conv, cut);
  }
  launch(convolve_first<float>, blocks, stream.native(), static_cast<const float*>(args.x), conv, cut);
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<prepared_bytes>,
    .prepare = of_conv<prepare>,
    .launch = of_conv<launch_first>,
    .format = kPixelFormat<float>,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab
