// Computes a register tile per thread: 6 pixels of several output channels (rung 10).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.register_tile",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 10,
    .idea = "each thread a register tile of outputs of several output channels",
    .after = "cuda.restrict_unroll",
    .threads =
        "A thread computes 6 adjacent pixels of 8 or 12 output channels; a block computes these channels for a band of "
        "whole output rows of one image. Pixels and filters are staged in shared memory, filters with the output "
        "channel innermost; results go through shared memory so that global stores are contiguous.",
    .cost =
        "2 * C * R * S flops; a filter row of 5 takes 5 float2 pixel loads and 5 x 3 float4 filter loads for 5 * 6 * "
        "12 = 360 multiply-adds.",
    .refuses =
        "Fused epilogues, uint8 input, strides, dilation, groups, rows wider than 1536 outputs, and bands that exceed "
        "shared memory.",
    .limit = "The multiply-add units, and threads that idle in the last band and at the end of a row.",
};

constexpr int kPixels = 6;  // per thread, adjacent in a row; even, so that float2 loads of pixels are aligned
constexpr int kMostThreads = 256;
constexpr int kStoredMaps = 4;              // output channels that go through shared memory at a time
constexpr size_t kSharedBytes = 48 * 1024;  // leaves room for two blocks per SM, needs no opt-in
constexpr int64_t kMostBlocksInZ = 65535;

/// How an image is partitioned into bands of output rows.
struct Band {
  int across;    // threads per row
  int rows;      // output rows per block
  int pitch;     // floats from one staged row of pixels to the next
  int channels;  // input channels staged at a time
};

template <int kMaps, int kWidth>
__global__ void __launch_bounds__(kMostThreads, 2)
    convolve_register_tile(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                           const ConvShape shape, const Band band) {
  const int width = kWidth > 0 ? kWidth : shape.s;
  const int staged_rows = band.rows + shape.r - 1, window = shape.r * width;
  float* pixels = dynamic_shared<float>();                                           // [channels][staged_rows][pitch]
  float* filters = pixels + (band.channels * staged_rows * band.pitch + 3) / 4 * 4;  // [channels][r][s][kMaps]

  const int thread = threadIdx.x, threads = blockDim.x;
  const int first_map = blockIdx.y * kMaps, first_p = blockIdx.x * band.rows;
  const int row = thread / band.across, column = thread % band.across * kPixels;
  const bool working = row < band.rows;

  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    float sum[kMaps][kPixels] = {};
    for (int first = 0; first < shape.c; first += band.channels) {
      const int channels = min(band.channels, shape.c - first);
      const int staged_width = band.across * kPixels + width - 1;
      const float* image = x + (n * shape.c + first) * shape.h * shape.w;
      for (int line = thread / 32; line < channels * staged_rows; line += threads / 32) {
        const int c = line / staged_rows, h = first_p + line % staged_rows - shape.pad_top;
        for (int i = thread % 32; i < staged_width; i += 32) {
          const int across = i - shape.pad_left;
          const bool inside = h >= 0 && h < shape.h && across >= 0 && across < shape.w;
          pixels[line * band.pitch + i] = inside ? image[(c * shape.h + h) * shape.w + across] : 0;
        }
      }
      for (int i = thread; i < channels * window * kMaps; i += threads) {
        const int map = first_map + i % kMaps, term = i / kMaps;
        filters[i] = map < shape.k ? w[(map * shape.c + first) * window + term] : 0;
      }
      __syncthreads();
      for (int line = 0; working && line < channels * shape.r; ++line) {
        const int c = line / shape.r, r = line % shape.r;
        const float* from = pixels + (c * staged_rows + row + r) * band.pitch + column;
        const float* filter = filters + line * width * kMaps;
        if constexpr (kWidth > 0) {
          float value[kPixels + kWidth];  // filled by float2 loads; if kWidth is odd, the last one is unused
#pragma unroll
          for (int i = 0; i < (kPixels + kWidth) / 2; ++i) {
            const float2 pair = *reinterpret_cast<const float2*>(from + 2 * i);
            value[2 * i] = pair.x;
            value[2 * i + 1] = pair.y;
          }
#pragma unroll
          for (int s = 0; s < kWidth; ++s) {
#pragma unroll
            for (int four = 0; four < kMaps; four += 4) {
              const float4 weight = *reinterpret_cast<const float4*>(filter + s * kMaps + four);
#pragma unroll
              for (int i = 0; i < kPixels; ++i) {
                sum[four + 0][i] += weight.x * value[s + i];
                sum[four + 1][i] += weight.y * value[s + i];
                sum[four + 2][i] += weight.z * value[s + i];
                sum[four + 3][i] += weight.w * value[s + i];
              }
            }
          }
        } else {
          for (int s = 0; s < width; ++s) {
#pragma unroll
            for (int map = 0; map < kMaps; ++map) {
#pragma unroll
              for (int i = 0; i < kPixels; ++i) sum[map][i] += filter[s * kMaps + map] * from[s + i];
            }
          }
        }
      }
      __syncthreads();
    }

    // The rows of a band are contiguous in y: stage [kStoredMaps][rows * q], then copy it unchanged.
    const int rows = min(band.rows, shape.p - first_p), count = rows * shape.q;
#pragma unroll
    for (int stored = 0; stored < kMaps; stored += kStoredMaps) {
      if (working && row < rows) {
#pragma unroll
        for (int map = 0; map < kStoredMaps; ++map) {
#pragma unroll
          for (int i = 0; i < kPixels; ++i) {
            if (column + i < shape.q) pixels[map * count + row * shape.q + column + i] = sum[stored + map][i];
          }
        }
      }
      __syncthreads();
      for (int map = 0; map < kStoredMaps; ++map) {
        const int k = first_map + stored + map;
        if (k >= shape.k) break;
        float* to = y + ((n * shape.k + k) * shape.p + first_p) * shape.q;
        for (int i = thread; i < count; i += threads) to[i] = pixels[map * count + i];
      }
      __syncthreads();
    }
  }
}

/// Returns the output channels per thread: 8 or 12, whichever wastes fewer.
int maps_of_thread(const ConvProblem& problem) { return round_up(problem.k, 12) <= round_up(problem.k, 8) ? 12 : 8; }

/// Partitions the output rows. `channels` is 0 if shared memory cannot hold one input channel or the results.
Band make_band(const ConvProblem& problem) {
  const int64_t across = ceil_div(problem.q(), kPixels);
  const int64_t bands = ceil_div(problem.p() * across, kMostThreads);
  const int64_t rows = std::max<int64_t>(1, std::min(ceil_div(problem.p(), bands), kMostThreads / across));
  const int64_t pitch = round_up(across * kPixels + problem.s, 2);
  const int64_t channel_floats = (rows + problem.r - 1) * pitch + problem.r * problem.s * maps_of_thread(problem);
  const int64_t floats = kSharedBytes / sizeof(float) - 4;  // minus padding that aligns the filters to 16 bytes
  const bool results_fit = kStoredMaps * rows * problem.q() <= floats;
  return {.across = static_cast<int>(across),
          .rows = static_cast<int>(rows),
          .pitch = static_cast<int>(pitch),
          .channels = static_cast<int>(results_fit ? std::min(problem.c, floats / channel_floats) : 0)};
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_dense(step)) return refusal;
  if (step.problem.q() > kPixels * kMostThreads) return "output width must be at most 1536";
  if (make_band(step.problem).channels == 0) return "a band of rows does not fit in 48 KiB of shared memory";
  return std::nullopt;
}

template <int kMaps>
void launch_maps(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const Band band = make_band(problem);
  const dim3 grid(ceil_div(problem.p(), band.rows), ceil_div(problem.k, kMaps), std::min(problem.n, kMostBlocksInZ));
  const dim3 block(round_up(band.rows * band.across, 32));
  const auto with = [&](auto kernel) {
    launch(kernel, {.grid = grid, .block = block, .shared_bytes = kSharedBytes}, stream.native(),
           static_cast<const float*>(args.x), args.w, args.y, kernel_shape(problem), band);
  };
  switch (problem.s) {
    case 3:
      return with(convolve_register_tile<kMaps, 3>);
    case 5:
      return with(convolve_register_tile<kMaps, 5>);
    case 7:
      return with(convolve_register_tile<kMaps, 7>);
    default:
      return with(convolve_register_tile<kMaps, 0>);
  }
}

void launch_register_tile(const ConvArgs& args, Stream& stream) {
  maps_of_thread(args.step.problem) == 12 ? launch_maps<12>(args, stream) : launch_maps<8>(args, stream);
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_register_tile>,
}};

}  // namespace
}  // namespace convlab
