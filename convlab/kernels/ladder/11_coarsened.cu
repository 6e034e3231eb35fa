// Sweeps block size and thread coarsening as tunable parameters (rung 11).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.coarsened",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 11,
    .idea = "block size and coarsening as declared parameters, swept",
    .after = "cuda.restrict_unroll",
    .threads =
        "A thread computes `rows_per_thread` outputs of one column of one output channel; a block is 32 columns wide "
        "and `block_rows` such threads high.",
    .cost =
        "2 * C * R * S flops; a column of the window is loaded once for all rows of a thread, (rows + R - 1) * S "
        "pixels for rows * R * S multiply-adds, and a weight once for all of them.",
    .refuses = "Fused epilogues, uint8 input, strides, dilation, groups, and filters other than 1x1, 3x3, 5x5 and 7x7.",
    .limit = "Load instructions: coarser threads need fewer, until registers run out.",
};

constexpr int kColumns = 32;
constexpr int64_t kMostBlocksInYZ = 65535;

constexpr int kBlockRows[] = {1, 2, 4, 8};
constexpr int kRowsPerThread[] = {1, 2, 4, 8};
constexpr Tunable kTunables[] = {{"block_rows", kBlockRows, 1}, {"rows_per_thread", kRowsPerThread, 8}};

template <int kFilter, int kRows>
__global__ void convolve_coarsened(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                                   const ConvShape shape) {
  const int q = blockIdx.x * kColumns + threadIdx.x, p = (blockIdx.y * blockDim.y + threadIdx.y) * kRows;
  if (q >= shape.q || p >= shape.p) return;
  const int top = p - shape.pad_top, left = q - shape.pad_left;

  for (int64_t n = blockIdx.z; n < shape.n; n += gridDim.z) {
    const float* __restrict__ image = x + n * shape.c * shape.h * shape.w;
    for (int k = 0; k < shape.k; ++k) {
      float sum[kRows] = {};
      for (int c = 0; c < shape.c; ++c) {
        const float* __restrict__ plane = image + c * shape.h * shape.w;
        const float* __restrict__ filter = w + (k * shape.c + c) * kFilter * kFilter;
#pragma unroll
        for (int s = 0; s < kFilter; ++s) {
          const int across = left + s;
          float column[kRows + kFilter - 1];
#pragma unroll
          for (int i = 0; i < kRows + kFilter - 1; ++i) {
            const int h = top + i;
            const bool inside = h >= 0 && h < shape.h && across >= 0 && across < shape.w;
            column[i] = inside ? __ldg(plane + h * shape.w + across) : 0;
          }
#pragma unroll
          for (int r = 0; r < kFilter; ++r) {
            const float weight = __ldg(filter + r * kFilter + s);
#pragma unroll
            for (int i = 0; i < kRows; ++i) sum[i] += column[i + r] * weight;
          }
        }
      }
      float* column = y + ((n * shape.k + k) * shape.p + p) * shape.q + q;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        if (p + i < shape.p) column[i * shape.q] = sum[i];
      }
    }
  }
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_dense(step)) return refusal;
  const ConvProblem& problem = step.problem;
  if (problem.r != problem.s || (problem.r != 1 && problem.r != 3 && problem.r != 5 && problem.r != 7)) {
    return "filter must be 1x1, 3x3, 5x5 or 7x7";
  }
  if (problem.p() > kMostBlocksInYZ) return "output height must be at most 65535";
  return std::nullopt;
}

template <int kFilter>
void launch_filter(const ConvArgs& args, Stream& stream, int block_rows, int rows_per_thread) {
  const ConvProblem& problem = args.step.problem;
  const dim3 grid(ceil_div(problem.q(), kColumns), ceil_div(problem.p(), block_rows * rows_per_thread),
                  std::min(problem.n, kMostBlocksInYZ));
  const auto with = [&](auto kernel) {
    launch(kernel, {.grid = grid, .block = dim3(kColumns, block_rows)}, stream.native(),
           static_cast<const float*>(args.x), args.w, args.y, kernel_shape(problem));
  };
  switch (rows_per_thread) {
    case 1:
      return with(convolve_coarsened<kFilter, 1>);
    case 2:
      return with(convolve_coarsened<kFilter, 2>);
    case 4:
      return with(convolve_coarsened<kFilter, 4>);
    default:
      return with(convolve_coarsened<kFilter, 8>);
  }
}

void launch_coarsened(const ConvArgs& args, Stream& stream) {
  const int block_rows = args.tuning.empty() ? kTunables[0].value : args.tuning[0];
  const int rows_per_thread = args.tuning.empty() ? kTunables[1].value : args.tuning[1];
  switch (args.step.problem.r) {
    case 1:
      return launch_filter<1>(args, stream, block_rows, rows_per_thread);
    case 3:
      return launch_filter<3>(args, stream, block_rows, rows_per_thread);
    case 5:
      return launch_filter<5>(args, stream, block_rows, rows_per_thread);
    default:
      return launch_filter<7>(args, stream, block_rows, rows_per_thread);
  }
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_coarsened>,
    .tunables = kTunables,
}};

}  // namespace
}  // namespace convlab
