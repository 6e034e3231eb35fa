// Stages whole rows of the image with 16-byte loads (rung 20).
//
// A load moves 4, 8 or 16 bytes per thread; 16-byte loads need a quarter of the requests. But a float4 must be 16-byte
// aligned, and a row of 33 pixels can start at any float. So the tile here is not a square but a band of whole rows,
// which is one contiguous range of an NCHW image. The range is copied as float4, wherever it starts:
//
//   image    | .  a  b  c | d  e  f  g | ... | x  y  .  . |      |: a multiple of 16 bytes
//   shared   | .  a  b  c | d  e  f  g | ... | x  y  .  . |      same offset from | as in the image
//
// Each float4 that is entirely in the range takes one load and one store. The two ends are copied float by float.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.vector_loads",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 20,
    .idea = "whole rows of the image staged with 16-byte loads",
    .after = "cuda.shared_tile",
    .threads =
        "A block of 256 threads computes a band of whole output rows of one output channel, up to 1024 outputs: 4 per "
        "thread, 256 apart. blockIdx.x is the band, y the output channel, z the image. The block stages the input rows "
        "of the band for one input channel at a time.",
    .cost =
        "2 * C * R * S flops; a warp stages 128 pixels per request, and reads a weight from shared memory once for 4 "
        "multiply-adds.",
    .refuses =
        "Fused epilogues, uint8 input, rows wider than 1024 outputs, and rows that exceed the shared memory of a "
        "block.",
    .limit = "Shared memory: five loads for 4 multiply-adds, and the bounds checks for pixels.",
};

constexpr int kThreads = 256;
constexpr int kOutputs = 4;  // per thread
constexpr int64_t kMostBlocksInZ = 65535;

/// Returns the floats of shared memory that a range of `count` floats needs: up to 3 before it for its alignment,
/// rounded up to whole float4.
__host__ __device__ constexpr int64_t staged_floats(int64_t count) { return (count + 3 + 3) / 4 * 4; }

/// Copies `count` floats to shared memory. Returns their address there, which has the same offset from a multiple of 16
/// bytes as `from`. `to` is 16-byte aligned and has room for staged_floats(count).
__device__ const float* stage(const float* from, int count, float* to) {
  const int before = static_cast<int>(reinterpret_cast<uintptr_t>(from) / sizeof(float) % 4);
  to += before;
  for (int i = 4 * static_cast<int>(threadIdx.x) - before; i < count; i += 4 * kThreads) {
    if (i >= 0 && i + 4 <= count) {
      *reinterpret_cast<float4*>(to + i) = *reinterpret_cast<const float4*>(from + i);
    } else {
      for (int end = max(i, 0); end < min(i + 4, count); ++end) to[end] = from[end];
    }
  }
  return to;
}

__global__ void __launch_bounds__(kThreads)
    convolve_vector_loads(const float* x, const float* w, float* y, ConvShape shape, int band_rows, int filter_at) {
  float* shared = dynamic_shared<float>();  // pixels of the band; at filter_at, one filter plane
  const int first_p = blockIdx.x * band_rows, k = blockIdx.y;
  const int outputs = min(band_rows, shape.p - first_p) * shape.q;
  const int top = first_p * shape.stride_h - shape.pad_top;
  const int bottom = top + (outputs / shape.q - 1) * shape.stride_h + (shape.r - 1) * shape.dilation_h + 1;
  const int first_h = min(max(top, 0), shape.h), end_h = max(min(bottom, shape.h), first_h);  // staged rows
  const int first_channel = k / shape.maps * shape.channels;

  int row[kOutputs], column[kOutputs];  // start of each output's window, relative to the staged rows
  for (int i = 0; i < kOutputs; ++i) {
    const int output = i * kThreads + threadIdx.x;
    row[i] = output / shape.q * shape.stride_h + top - first_h;
    column[i] = output % shape.q * shape.stride_w - shape.pad_left;
  }

  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    float sum[kOutputs] = {};
    for (int c = 0; c < shape.channels; ++c) {
      const float* plane = x + (n * shape.c + first_channel + c) * shape.h * shape.w;
      const float* pixels = stage(plane + first_h * shape.w, (end_h - first_h) * shape.w, shared);
      const float* filter =
          stage(w + (k * shape.channels + c) * shape.r * shape.s, shape.r * shape.s, shared + filter_at);
      __syncthreads();
      for (int r = 0; r < shape.r; ++r) {
        for (int s = 0; s < shape.s; ++s) {
          const float weight = filter[r * shape.s + s];
#pragma unroll
          for (int i = 0; i < kOutputs; ++i) {
            const unsigned down = row[i] + r * shape.dilation_h, across = column[i] + s * shape.dilation_w;
            const bool inside = down < end_h - first_h && across < shape.w;
            if (inside) sum[i] += pixels[down * shape.w + across] * weight;
          }
        }
      }
      __syncthreads();
    }
    float* to = y + ((n * shape.k + k) * shape.p + first_p) * shape.q;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      const int output = i * kThreads + threadIdx.x;
      if (output < outputs) to[output] = sum[i];
    }
  }
}

/// How an image is partitioned: output rows per block, and shared memory of a block.
struct Band {
  int64_t rows, filter_at;  // filter_at in floats
  size_t shared_bytes;
};

Band make_band(const ConvProblem& problem) {
  const int64_t rows = std::clamp<int64_t>(kOutputs * kThreads / problem.q(), 1, problem.p());
  const int64_t bands = ceil_div(problem.p(), rows), even = ceil_div(problem.p(), bands);
  const int64_t staged = (even - 1) * problem.stride_h + (problem.r - 1) * problem.dilation_h + 1;
  const int64_t filter_at = staged_floats(std::min(staged, problem.h) * problem.w);
  return {.rows = even,
          .filter_at = filter_at,
          .shared_bytes = static_cast<size_t>(filter_at + staged_floats(problem.r * problem.s)) * sizeof(float)};
}

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  if (step.problem.q() > kOutputs * kThreads) return "output width must be at most 1024";
  if (make_band(step.problem).shared_bytes > caps.shared_bytes_per_block) {
    return "the input rows of a band do not fit in the shared memory of a block";
  }
  return std::nullopt;
}

void launch_vector_loads(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const Band band = make_band(problem);
  const dim3 grid(ceil_div(problem.p(), band.rows), problem.k, std::min(problem.n, kMostBlocksInZ));
  launch(convolve_vector_loads, {.grid = grid, .block = kThreads, .shared_bytes = band.shared_bytes}, stream.native(),
         static_cast<const float*>(args.x), args.w, args.y, kernel_shape(problem), static_cast<int>(band.rows),
         static_cast<int>(band.filter_at));
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_vector_loads>,
}};

}  // namespace
}  // namespace convlab
