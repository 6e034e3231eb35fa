// cuda.nhwc_pointwise_fp32: 1x1 convolutions in fp32 nhwc without tensor cores, for few channels. A block keeps its
// filters in shared memory and loops over tiles of pixels, whose channels are prefetched 16 at a time, several stages
// ahead. Its warps compute other output channels of the same pixels, or other pixels.

#include <algorithm>

#include <fmt/core.h>

#include "convlab/device/early_launch.cuh"
#include "convlab/device/pipeline.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_op.h"
#include "convlab/kernels/cuda/nhwc/pixel_step.cuh"
#include "convlab/kernels/cuda/nhwc/quick_activation.cuh"
#include "convlab/kernels/cuda/nhwc/tiled_filters.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nhwc_pointwise_fp32",
    .device = kCompiledFor,
    .rung = kProductionRung,
    .idea = "1x1 convolutions with few channels by fp32 multiply-adds, which take less time than memory",
    .after = "cuda.nhwc_first_fp32",
    .threads =
        "A warp computes 64 pixels by 48 output channels and a lane 8 by 12 of them, or 32 by 80 and 4 by 20; for "
        "fewer output channels 32 pixels by 16 to 40, where a lane sums half of the input channels for 4 pixels by 8 "
        "to 20 output channels.",
    .cost =
        "2 * C flops; a pixel's inputs are read once for a block's output channels, and filters once for all tiles of "
        "a block.",
    .refuses =
        "Filters other than 1x1, strides, padding, groups, and fused pooling; more than 32 input channels, unless "
        "there are more output channels; C * K / (C + K) above 35; filters that do not fit in shared memory; and "
        "compute capability below 8.0.",
    .limit = "Memory; multiply-adds, too, if C * K / (C + K) is near 35.",
};

/// Limit of c * k / (c + k), which is proportional to the ratio of multiply-add time to memory time.
constexpr int kMostBalance = 35;
/// With more, a block's prologue and epilogue take long if there are few output channels.
constexpr int64_t kFewChannels = 32;
constexpr int kChunk = 16;  // channels of a stage
constexpr int kStages = 4;  // of a block's shared memory

/// A warp's tile. Lanes are 8 by 4. The 8 have different pixels; the 4 have different output channels or, if kParts is
/// 2, output channels and input channels. A lane has kEach pixels, and kPieces times 4 output channels.
template <int kParts_, int kPieces_, int kEach_>
struct PointwiseTile {
  static constexpr int kParts = kParts_, kPieces = kPieces_, kEach = kEach_;
  static constexpr int kPixels = 8 * kEach;                      // of the warp
  static constexpr int kPieceMaps = 16 / kParts;                 // output channels of all lanes' pieces of one index
  static constexpr int kMaps = kPieceMaps * kPieces;             // of the warp
  static constexpr int kFinished = kEach / kParts;               // pixels that a lane finishes
  static constexpr int kMostColumns = kParts == 1 ? 6 : 4;       // maximum warps of a block along output channels
  static constexpr int kWarps = kPieces * kEach > 16 ? 12 : 16;  // warps whose registers fit in a multiprocessor
};

/// Calls each() with the widest tile that wastes little: k rounded up to its output channels is at most 1.1 times the
/// least.
template <class Each>
auto with_tile(int64_t k, const Each& each) {
  int64_t least = round_up(k, 16);
  for (const int maps : {24, 32, 40, 48, 80}) least = std::min(least, round_up(k, maps));
  const auto fits = [&](int maps) { return 10 * round_up(k, maps) <= 11 * least; };
  if (fits(80)) return each(PointwiseTile<1, 5, 4>());
  if (fits(48)) return each(PointwiseTile<1, 3, 8>());
  if (fits(40)) return each(PointwiseTile<2, 5, 4>());
  if (fits(32)) return each(PointwiseTile<2, 4, 4>());
  if (fits(24)) return each(PointwiseTile<2, 3, 4>());
  return each(PointwiseTile<2, 2, 4>());
}

/// Partition of a layer into blocks of warps.
struct PointwiseCut {
  int columns, rows;      ///< warps of a block: along output channels, and along pixels
  int map_blocks;         ///< blocks that compute all output channels of the same pixels
  int maps, pixels;       ///< of a block's tile
  int together;           ///< blocks per multiprocessor, as registers allow
  int tiles, all_pixels;  ///< of the batch

  template <class Tile>
  PointwiseCut(const ConvProblem& problem, Tile) {
    const int64_t all = ceil_div(problem.k, Tile::kMaps);
    map_blocks = static_cast<int>(ceil_div(all, Tile::kMostColumns));
    columns = static_cast<int>(ceil_div(all, map_blocks));
    rows = std::max(4 / columns, 1);
    together = std::max(Tile::kWarps / (columns * rows), 1);
    maps = columns * Tile::kMaps;
    pixels = rows * Tile::kPixels;
    all_pixels = static_cast<int>(problem.n * problem.h * problem.w);
    tiles = static_cast<int>(ceil_div(all_pixels, pixels));
  }

  int threads() const { return 32 * columns * rows; }
  size_t shared_bytes(int64_t channels) const {
    return static_cast<size_t>(channels * maps + int64_t{kStages} * pixels * kChunk) * sizeof(float);
  }
  /// Returns the blocks that are resident at once. A multiprocessor's shared memory is the maximum of a block plus what
  /// is reserved for a block.
  int64_t blocks(int64_t channels, const DeviceCaps& caps) const {
    constexpr size_t kReserved = 1024;
    const auto fit = static_cast<int>((caps.shared_bytes_per_block + kReserved) / (shared_bytes(channels) + kReserved));
    return int64_t{std::clamp(fit, 1, together)} * caps.multiprocessors;
  }
};

PointwiseCut cut_of(const ConvProblem& problem) {
  return with_tile(problem.k, [&](auto tile) { return PointwiseCut(problem, tile); });
}

__device__ void load_four(const float* from, float (&to)[4]) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

/// A lane's sums. Lanes with different input channels add each other's sums; each then has kFinished pixels.
template <class Tile>
class PointwiseSums {
 public:
  /// Adds the products of 4 input channels. x: the lane's first pixel; w: its first output channels; maps: floats from
  /// one input channel of w to the next.
  __device__ void add(const float* x, const float* w, int maps) {
    float pixels[Tile::kEach][4];
#pragma unroll
    for (int j = 0; j < Tile::kEach; ++j) load_four(x + 8 * j * kChunk, pixels[j]);
#pragma unroll
    for (int channel = 0; channel < 4; ++channel, w += maps) {
#pragma unroll
      for (int piece = 0; piece < Tile::kPieces; ++piece) {
        float filter[4];
        load_four(w + piece * Tile::kPieceMaps, filter);
#pragma unroll
        for (int j = 0; j < Tile::kEach; ++j) {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            float& sum = sums_[j][4 * piece + i];
            sum = fmaf(pixels[j][channel], filter[i], sum);
          }
        }
      }
    }
  }

  /// Writes y from the lane's first pixel and output channel on. part: which part of the input channels this lane has
  /// summed.
  __device__ void finish(const PixelConvOf<float>& conv, int64_t pixel, int map, int part) {
    constexpr int kMaps = 4 * Tile::kPieces;
    float values[Tile::kFinished][kMaps];
#pragma unroll
    for (int j = 0; j < Tile::kFinished; ++j) {
#pragma unroll
      for (int i = 0; i < kMaps; ++i) {
        values[j][i] = sums_[j][i];
        if constexpr (Tile::kParts == 2) {
          const float other = sums_[j + Tile::kFinished][i];
          if (part == 1) values[j][i] = other;
          values[j][i] += __shfl_xor_sync(0xffffffffu, part == 1 ? sums_[j][i] : other, 16);
        }
      }
    }
    pixel += part * 8 * Tile::kFinished;
    const int64_t pixels = int64_t{conv.shape.n} * conv.shape.p * conv.shape.q;
    const auto exists = [&](int j, int piece) {
      return pixel + 8 * j < pixels && map + piece * Tile::kPieceMaps < conv.shape.k;
    };
    if (conv.bias != nullptr) {
#pragma unroll
      for (int piece = 0; piece < Tile::kPieces; ++piece) {
        if (map + piece * Tile::kPieceMaps >= conv.shape.k) break;
        float bias[4];
        load_four(conv.bias + map + piece * Tile::kPieceMaps, bias);
#pragma unroll
        for (int j = 0; j < Tile::kFinished; ++j) {
#pragma unroll
          for (int i = 0; i < 4; ++i) values[j][4 * piece + i] += bias[i];
        }
      }
    }
    if (conv.added != nullptr) {
      const float* from = conv.added + pixel * conv.added_step + map;
#pragma unroll
      for (int j = 0; j < Tile::kFinished; ++j, from += 8 * conv.added_step) {
#pragma unroll
        for (int piece = 0; piece < Tile::kPieces; ++piece) {
          float added[4] = {};
          if (exists(j, piece)) load_four(from + piece * Tile::kPieceMaps, added);
#pragma unroll
          for (int i = 0; i < 4; ++i) values[j][4 * piece + i] += added[i];
        }
      }
    }
    float* to = conv.y + pixel * conv.y_step + map;
#pragma unroll
    for (int j = 0; j < Tile::kFinished; ++j, to += 8 * conv.y_step) {
      activate<false>(conv.activation, values[j]);
#pragma unroll
      for (int piece = 0; piece < Tile::kPieces; ++piece) {
        const float* four = values[j] + 4 * piece;
        if (exists(j, piece)) {
          *reinterpret_cast<float4*>(to + piece * Tile::kPieceMaps) = {four[0], four[1], four[2], four[3]};
        }
      }
    }
  }

 private:
  float sums_[Tile::kEach][4 * Tile::kPieces] = {};
};

/// Copies a block's tiles, chunk by chunk, to stages: [pixel][channel]. A pixel's four groups of 4 channels are
/// swizzled, so that lanes with adjacent pixels read from different banks.
class ChunkCopies {
 public:
  __device__ ChunkCopies(const PixelConvOf<float>& conv, const PointwiseCut& cut) : conv_(conv), cut_(cut) {}

  __device__ void begin(float* stage) {
    const int first = threadIdx.x / 4, four = threadIdx.x % 4, channel = channel_ + 4 * four;
    if (tile_ < cut_.tiles && channel < conv_.shape.c) {
      const int tile_pixel = tile_ * cut_.pixels, left = cut_.all_pixels - tile_pixel;
      const float* from = conv_.x + (int64_t{tile_pixel} + first) * conv_.x_step + channel;
      SharedAddress to = to_shared(stage + first * kChunk + (four ^ first / 2 % 4) * 4);
      const int step = blockDim.x / 4;
      for (int i = first; i < cut_.pixels; i += step) {
        const bool is_there = i < left;
        copy_async(to, reinterpret_cast<const float4*>(is_there ? from : conv_.x), is_there);
        from += step * conv_.x_step;
        to += step * kChunk * static_cast<int>(sizeof(float));
      }
    }
    __pipeline_commit();
    channel_ += kChunk;
    if (channel_ >= conv_.shape.c) {
      channel_ = 0;
      tile_ += gridDim.y;
    }
  }

 private:
  const PixelConvOf<float>& conv_;
  const PointwiseCut& cut_;
  int tile_ = blockIdx.y, channel_ = 0;
};

/// Grid: x = output channels; y = blocks that loop over tiles of pixels. conv.w: filters of each x, [c][output
/// channel].
template <class Tile>
__global__ void __launch_bounds__(32 * Tile::kMostColumns, Tile::kWarps / Tile::kMostColumns)
    convolve_pointwise(const __grid_constant__ PixelConvOf<float> conv, const __grid_constant__ PointwiseCut cut) {
  const int channels = conv.shape.c, filters = channels * cut.maps, chunk_floats = cut.pixels * kChunk;
  float *const w = dynamic_shared<float>(), *const stages = w + filters;
  const float* given = static_cast<const float*>(conv.w) + int64_t{blockIdx.x} * filters;
  for (int i = threadIdx.x * 4; i < filters; i += blockDim.x * 4) {
    copy_async(to_shared(w + i), reinterpret_cast<const float4*>(given + i), true);
  }
  begin_in_turn();

  ChunkCopies copies(conv, cut);
  for (int stage = 0; stage < kStages - 1; ++stage) copies.begin(stages + stage * chunk_floats);

  // Lanes 0 and 1 have the same output channels, 0 and 2 the same pixels: half a warp then loads 16 bytes per lane at
  // once.
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, pixel_lane = lane % 2 + lane / 4 % 4 * 2;
  const int part = Tile::kParts == 1 ? 0 : lane / 16, map_lane = lane / 2 % 2 + (Tile::kParts == 1 ? lane / 16 * 2 : 0);
  const int own_map = warp % cut.columns * Tile::kMaps + map_lane * 4;
  const unsigned own_pixel = warp / cut.columns * Tile::kPixels + pixel_lane;
  const bool has_maps = static_cast<int>(blockIdx.x) * cut.maps + warp % cut.columns * Tile::kMaps < conv.shape.k;
  int stage = 0;
  for (int tile = blockIdx.y; tile < cut.tiles; tile += gridDim.y) {
    PointwiseSums<Tile> sums;
    const float* filter = w + own_map;
    for (int channel = 0; channel < channels; channel += kChunk, filter += kChunk * cut.maps) {
      __pipeline_wait_prior(kStages - 2);  // this thread's copies of the chunk have arrived,
      __syncthreads();                     // all others' too, and no thread still reads the stage that is filled next
      copies.begin(stages + (stage + kStages - 1) % kStages * chunk_floats);
      if (has_maps) {
        const float* x = stages + stage * chunk_floats + own_pixel * kChunk;
        const int fours = min(kChunk, channels - channel) / 4;
#pragma unroll 1
        for (int four = part; four < fours; four += Tile::kParts) {
          sums.add(x + (four ^ pixel_lane / 2) * 4, filter + four * 4 * cut.maps, cut.maps);
        }
      }
      stage = (stage + 1) % kStages;
    }
    if (has_maps) {
      sums.finish(conv, int64_t{tile} * cut.pixels + own_pixel, blockIdx.x * cut.maps + own_map, part);
    }
  }
  __pipeline_wait_prior(0);
}

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  const ConvProblem& problem = step.problem;
  if (caps.kind == DeviceKind::cuda && caps.compute_capability < 80) {
    return "compute capability 8.0 or later is required";
  }
  if (step.input_format != kPixelFormat<float> || step.output_format != kPixelFormat<float>) {
    return fmt::format("input and output must be {}", name_of(kPixelFormat<float>));
  }
  if (problem.groups != 1 || step.epilogue.pool) return "groups and fused pooling are not supported";
  if (problem.r != 1 || problem.s != 1 || problem.stride_h != 1 || problem.stride_w != 1 ||
      problem.input_shape()[2] != problem.p() || problem.input_shape()[3] != problem.q()) {
    return "filter must be 1x1 with stride 1 and no padding";
  }
  if (const Refusal refusal = refuse_unless_pixels(problem.input_shape())) return refusal;
  if (const Refusal refusal = refuse_unless_pixels(problem.output_shape())) return refusal;
  if (checked_mul(problem.c, problem.k) > kMostBalance * (problem.c + problem.k) ||
      (problem.c > kFewChannels && problem.k <= problem.c)) {
    return "too many channels: tensor cores are faster";
  }
  constexpr int64_t kMostFew = int64_t{1} << 20;
  if (problem.c >= kMostFew || problem.k >= kMostFew) return "fewer than 2^20 channels are supported";
  if (cut_of(problem).shared_bytes(problem.c) > caps.shared_bytes_per_block) {
    return fmt::format("filters and pixels must fit in {} bytes of shared memory", caps.shared_bytes_per_block);
  }
  return std::nullopt;
}

int64_t packed_filters(const ConvProblem& problem) {
  const PointwiseCut cut = cut_of(problem);
  return checked_product({cut.map_blocks, problem.c, cut.maps});
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(packed_filters(step.problem)) * sizeof(float);
}

void prepare(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  pack_tiled_filters(args.w, args.prepared, problem.k, problem.c, cut_of(problem).maps, packed_filters(problem),
                     stream.native());
}

void launch_pointwise(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  PixelConvOf<float> conv = conv_of_step<float>(args.step);
  set_addresses(args, conv);
  with_tile(problem.k, [&](auto tile) {
    const PointwiseCut cut(problem, tile);
    const int64_t turns = ceil_div(cut.blocks(problem.c, stream.caps()), cut.map_blocks);
    launch(convolve_pointwise<decltype(tile)>,
           {.grid = {cut.map_blocks, std::min<int64_t>(cut.tiles, turns)},
            .block = cut.threads(),
            .shared_bytes = cut.shared_bytes(problem.c),
            .early = true},
           stream.native(), conv, cut);
  });
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<prepared_bytes>,
    .prepare = of_conv<prepare>,
    .launch = of_conv<launch_pointwise>,
    .format = kPixelFormat<float>,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab
