#pragma once

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/tensor_core.cuh"
#include "convlab/kernels/conv_shape.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Convolution as a matrix product on tensor cores, without unrolling: what the three tensor-core rungs share, whatever
// the arithmetic. The product is pixels x terms times terms x maps:
//   - a block takes a band of whole output rows of one image, and up to 24 maps; its pixels, flattened, are the rows of
//     A in tiles of 16; each of 8 warps owns four tiles and keeps their sums of all maps in registers;
//   - the pixels that the band needs lie in shared memory as they lie in the image, and an offset a term (c, r, s)
//   turns
//     a pixel's address into the address of A's element: gathering from shared memory replaces im2col;
//   - filters lie in shared memory in the order of B's fragments, so that a lane loads its own in one access;
//   - the sums go back through shared memory, because a fragment has two maps of eight pixels and y wants rows.
// Blocks are persistent over images: where all channels fit, filters are staged once.
//
// An Arithmetic has: Pixel, the type of a staged pixel, and stage(float); kTerms of a step, kHeld terms of a lane in
// it, term(t, i) which of them; B, a lane's filters of a step, and pack(float (&w)[kHeld]); multiply(sum, v, b) with
// v[2][kHeld] the lane's pixels of rows g and g + 8.

constexpr int kWarps = 8;
constexpr int kTilesOfWarp = 4;                           // of 16 pixels
constexpr int kBlockPixels = kWarps * kTilesOfWarp * 16;  // of a pass
constexpr size_t kSharedBytes = 112 * 1024;               // two blocks to a multiprocessor of 227 KiB

struct TensorBand {
  int rows;      // output rows of a block
  int height;    // input rows of a block
  int pitch;     // pixels from one staged row to the next
  int channels;  // staged at a time
};

template <class Arithmetic, int kColumns>
__global__ void __launch_bounds__(kWarps * 32, 2)
    convolve_tensor_core(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                         const ConvShape shape, const TensorBand band) {
  using Pixel = typename Arithmetic::Pixel;
  using B = typename Arithmetic::B;
  constexpr int kTerms = Arithmetic::kTerms, kHeld = Arithmetic::kHeld;
  const int window = shape.r * shape.s, steps_staged = (band.channels * window + kTerms - 1) / kTerms;
  auto* filters = dynamic_shared<B>();                                             // [step][kColumns][lane]
  auto* offsets = reinterpret_cast<int*>(filters + steps_staged * kColumns * 32);  // [step * kTerms]
  auto* pixels = reinterpret_cast<Pixel*>(offsets + (steps_staged * kTerms + 3) / 4 * 4);
  auto* results = reinterpret_cast<float*>(pixels);  // [8 maps][pixels of a pass]

  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, g = lane / 4, t = lane % 4;
  const int first_map = blockIdx.y * kColumns * 8, first_p = blockIdx.x * band.rows;
  const int count = min(band.rows, shape.p - first_p) * shape.q;  // pixels of this block
  const int first_h = first_p * shape.stride_h - shape.pad_top;
  const int first_w = -shape.pad_left;

  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    for (int pass = 0; pass < count; pass += kBlockPixels) {
      int base[kTilesOfWarp][2];  // of this lane's two pixels of each tile; those past the end repeat the first
      for (int tile = 0; tile < kTilesOfWarp; ++tile) {
        for (int half = 0; half < 2; ++half) {
          const int pixel = pass + (warp * kTilesOfWarp + tile) * 16 + half * 8 + g;
          const int row = pixel < count ? pixel / shape.q : 0, column = pixel < count ? pixel % shape.q : 0;
          base[tile][half] = row * shape.stride_h * band.pitch + column * shape.stride_w;
        }
      }

      float sum[kTilesOfWarp][kColumns][4] = {};
      for (int first = 0; first < shape.c; first += band.channels) {
        const int channels = min(band.channels, shape.c - first), terms = channels * window;
        const int steps = (terms + kTerms - 1) / kTerms;
        const float* image = x + (n * shape.c + first) * shape.h * shape.w;
        for (int line = warp; line < channels * band.height; line += kWarps) {
          const int c = line / band.height, h = first_h + line % band.height;
          for (int i = lane; i < band.pitch; i += 32) {
            const int across = first_w + i;
            const bool inside = h >= 0 && h < shape.h && across >= 0 && across < shape.w;
            pixels[line * band.pitch + i] = Arithmetic::stage(inside ? image[(c * shape.h + h) * shape.w + across] : 0);
          }
        }
        const bool staged_before = band.channels >= shape.c && (n != blockIdx.z || pass != 0);
        if (!staged_before) {
          for (int term = thread; term < steps * kTerms; term += kWarps * 32) {
            const int c = term / window, r = term / shape.s % shape.r, s = term % shape.s;
            const int offset = (c * band.height + r * shape.dilation_h) * band.pitch + s * shape.dilation_w;
            offsets[term] = term < terms ? offset : -1;  // -1: a zero, whatever the filter: 0 * NaN would be NaN
          }
          for (int i = thread; i < steps * kColumns * 32; i += kWarps * 32) {
            const int map = first_map + i / 32 % kColumns * 8 + i % 32 / 4;
            float weight[kHeld];
            for (int held = 0; held < kHeld; ++held) {
              const int term = i / 32 / kColumns * kTerms + Arithmetic::term(i % 4, held);
              weight[held] = map < shape.k && term < terms ? w[(map * shape.c + first) * window + term] : 0;
            }
            filters[i] = Arithmetic::pack(weight);
          }
        }
        __syncthreads();
        for (int step = 0; step < steps; ++step) {
          int offset[kHeld];
#pragma unroll
          for (int held = 0; held < kHeld; ++held) offset[held] = offsets[step * kTerms + Arithmetic::term(t, held)];
          B b[kColumns];
#pragma unroll
          for (int column = 0; column < kColumns; ++column) b[column] = filters[(step * kColumns + column) * 32 + lane];
#pragma unroll
          for (int tile = 0; tile < kTilesOfWarp; ++tile) {
            Pixel value[2][kHeld];
#pragma unroll
            for (int held = 0; held < kHeld; ++held) {
#pragma unroll
              for (int half = 0; half < 2; ++half) {
                value[half][held] = offset[held] >= 0 ? pixels[base[tile][half] + offset[held]] : Pixel{};
              }
            }
            Arithmetic::template multiply<kColumns>(sum[tile], value, b);
          }
        }
        __syncthreads();
      }

      const int here = min(kBlockPixels, count - pass);
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
#pragma unroll
        for (int tile = 0; tile < kTilesOfWarp; ++tile) {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int pixel = (warp * kTilesOfWarp + tile) * 16 + i / 2 * 8 + g;
            if (pixel < here) results[(2 * t + i % 2) * kBlockPixels + pixel] = sum[tile][column][i];
          }
        }
        __syncthreads();
        const int k = first_map + column * 8 + warp;  // a warp copies a map
        if (k < shape.k) {
          float* to = y + ((n * shape.k + k) * shape.p + first_p) * shape.q + pass;
          for (int pixel = lane; pixel < here; pixel += 32) to[pixel] = results[warp * kBlockPixels + pixel];
        }
        __syncthreads();
      }
    }
  }
}

/// Columns of 8 maps that a block takes: 1, 2 or 3, whichever computes the fewest maps in vain; of those the most.
inline int tensor_columns(int64_t maps) {
  int best = 1;
  for (int columns : {2, 3}) {
    if (round_up(maps, columns * 8) <= round_up(maps, best * 8)) best = columns;
  }
  return best;
}

/// `channels` is 0 where not even one fits into shared memory.
template <class Arithmetic>
TensorBand tensor_band(const ConvProblem& problem) {
  const int64_t most = std::clamp<int64_t>(kBlockPixels / problem.q(), 1, problem.p());
  const int64_t rows = ceil_div(problem.p(), ceil_div(problem.p(), most));  // bands of the same height
  const int64_t height = (rows - 1) * problem.stride_h + (problem.r - 1) * problem.dilation_h + 1;
  const int64_t pitch = (problem.q() - 1) * problem.stride_w + (problem.s - 1) * problem.dilation_w + 1;
  const int64_t results = 8 * kBlockPixels * static_cast<int64_t>(sizeof(float));
  const int64_t window = problem.r * problem.s, columns = tensor_columns(problem.k);
  const auto staged = [&](int64_t channels) {
    return std::max(results,
                    round_up(channels * height * pitch * static_cast<int64_t>(sizeof(typename Arithmetic::Pixel)), 16));
  };
  const auto fits = [&](int64_t channels) {
    const int64_t steps = ceil_div(channels * window, Arithmetic::kTerms);
    const int64_t filters = steps * columns * 32 * static_cast<int64_t>(sizeof(typename Arithmetic::B));
    const int64_t offsets = round_up(steps * Arithmetic::kTerms, 4) * 4;
    return staged(channels) + filters + offsets <= static_cast<int64_t>(kSharedBytes);
  };
  int64_t channels = 0;
  while (channels < problem.c && fits(channels + 1)) ++channels;
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  return {narrow(rows), narrow(height), narrow(pitch), narrow(channels)};
}

template <class Arithmetic>
Refusal refuses_tensor_core(const ConvStep& step, const DeviceCaps& caps) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  if (step.problem.groups != 1) return "takes one group only";
  if (caps.compute_capability < 80) return "needs tensor cores of compute capability 8.0";
  if (caps.shared_bytes_per_block < kSharedBytes) return "needs 112 KiB of shared memory for a block";
  if (tensor_band<Arithmetic>(step.problem).channels == 0)
    return "a band of one channel does not fit into shared memory";
  return std::nullopt;
}

template <class Arithmetic>
void launch_tensor_core(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const TensorBand band = tensor_band<Arithmetic>(problem);
  const int columns = tensor_columns(problem.k);
  const int64_t bands = ceil_div(problem.p(), band.rows), chunks = ceil_div(problem.k, columns * 8);
  constexpr int64_t kBlocks = 1056;  // persistent: a few for each place on the largest chips, to even out the end
  const dim3 grid(bands, chunks, std::clamp<int64_t>(ceil_div(kBlocks, bands * chunks), 1, problem.n));
  const auto with = [&](auto kernel) {
    launch(kernel, {.grid = grid, .block = kWarps * 32, .shared_bytes = kSharedBytes}, stream.native(),
           static_cast<const float*>(args.x), args.w, args.y, kernel_shape(problem), band);
  };
  if (columns == 1) return with(convolve_tensor_core<Arithmetic, 1>);
  if (columns == 2) return with(convolve_tensor_core<Arithmetic, 2>);
  with(convolve_tensor_core<Arithmetic, 3>);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
