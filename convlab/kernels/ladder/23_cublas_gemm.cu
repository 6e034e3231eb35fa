// Unrolls the images in global memory (im2col), then multiplies with cuBLAS (rung 23).

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/device/cublas.cuh"
#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.cublas_gemm",
    .device = kCompiledFor,
    .math = Math::fp32,
    .rung = 23,
    .idea = "im2col to global memory, then the library's matrix multiply",
    .after = "cuda.unroll_gemm",
    .threads =
        "Unroll: one thread per element of the unrolled matrix [C * R * S][P * Q]. Multiply: as cuBLAS chooses, all "
        "images of a chunk in one call.",
    .cost =
        "2 * C * R * S flops; the unrolled matrix holds each pixel R * S times, is written once, and read once per "
        "tile of output channels of the library.",
    .refuses = "Fused epilogues, uint8 input, and unrolled images too large for 32-bit indices.",
    .limit =
        "Memory traffic of the unrolled matrix, and tiles designed for hundreds of output channels: these layers have "
        "12 and 24.",
};

constexpr int kUnrollThreads = 256;
constexpr int64_t kChunkBytes = int64_t{256} << 20;  // unrolled images per chunk; a chunk has at least one image
constexpr int64_t kMostBlocksInZ = 65535;

/// Writes unrolled[image][group][term][pixel], where term = (c * R + r) * S + s is the reduction index.
__global__ void __launch_bounds__(kUnrollThreads) unroll(const float* x, float* unrolled, ConvShape shape) {
  const int pixel = blockIdx.x * kUnrollThreads + threadIdx.x;
  if (pixel >= shape.p * shape.q) return;
  const int c = blockIdx.y;  // input channel, counted over all groups
  const float* plane = x + (static_cast<int64_t>(blockIdx.z) * shape.c + c) * shape.h * shape.w;
  float* column = unrolled + (static_cast<int64_t>(blockIdx.z) * shape.c + c) * shape.r * shape.s * shape.p * shape.q;
  const int top = pixel / shape.q * shape.stride_h - shape.pad_top;
  const int left = pixel % shape.q * shape.stride_w - shape.pad_left;
  for (int r = 0; r < shape.r; ++r) {
    for (int s = 0; s < shape.s; ++s) {
      const int h = top + r * shape.dilation_h, across = left + s * shape.dilation_w;
      const bool inside = h >= 0 && h < shape.h && across >= 0 && across < shape.w;
      column[(r * shape.s + s) * shape.p * shape.q + pixel] = inside ? plane[h * shape.w + across] : 0;
    }
  }
}

int64_t unrolled_bytes(const ConvProblem& problem) {
  return problem.c * problem.r * problem.s * problem.p() * problem.q() * static_cast<int64_t>(sizeof(float));
}

int64_t images_in_chunk(const ConvProblem& problem) {
  const int64_t most = std::max<int64_t>(1, kChunkBytes / unrolled_bytes(problem));
  return std::min({problem.n, most, kMostBlocksInZ});
}

size_t workspace_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(images_in_chunk(step.problem) * unrolled_bytes(step.problem));
}

Refusal absent() {
  const std::string why = Cublas::why_absent();
  return why.empty() ? std::nullopt : Refusal(why);
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  if (Refusal refusal = absent()) return refusal;
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  if (unrolled_bytes(step.problem) > int64_t{1} << 31) return "an unrolled image exceeds 2 GiB";
  if (step.problem.c > kMostBlocksInZ) return "at most 65535 input channels are supported";
  return std::nullopt;
}

/// Creates the cuBLAS handle, which takes far longer than a launch. The stream owns it.
void make_handle(const ConvArgs&, Stream& stream) { stream.attached<Cublas>(); }

void launch_cublas_gemm(const ConvArgs& args, Stream& stream) {
  auto& cublas = stream.attached<Cublas>();
  const float one = 1, zero = 0;  // alpha and beta
  const ConvProblem& problem = args.step.problem;
  const ConvShape shape = kernel_shape(problem);
  const int maps = shape.maps, pixels = shape.p * shape.q, terms = shape.channels * shape.r * shape.s;
  const int64_t image_columns = problem.groups * terms * pixels, image_maps = problem.groups * maps * pixels;
  const auto* x = static_cast<const float*>(args.x);
  auto* unrolled = static_cast<float*>(args.workspace);
  const int64_t chunk = images_in_chunk(problem);
  for (int64_t n = 0; n < problem.n; n += chunk) {
    const int64_t images = std::min(chunk, problem.n - n);
    launch(unroll, {.grid = dim3(ceil_div(pixels, kUnrollThreads), shape.c, images), .block = kUnrollThreads},
           stream.native(), x + n * problem.c * problem.h * problem.w, unrolled, shape);
    // y[maps][pixels] = w[maps][terms] * unrolled[terms][pixels]: one call per group for all images. cuBLAS expects
    // column-major matrices, so it sees all three transposed: ask it for y' = unrolled' * w'.
    for (int64_t group = 0; group < problem.groups; ++group) {
      cublas.sgemm_strided_batched(
          stream.native(), CUBLAS_OP_N, CUBLAS_OP_N, pixels, maps, terms, &one, unrolled + group * terms * pixels,
          pixels, image_columns, args.w + group * maps * terms, terms, 0, &zero,
          args.y + n * image_maps + group * maps * pixels, pixels, image_maps, static_cast<int>(images));
    }
  }
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .workspace_bytes = of_conv<workspace_bytes>,
    .prepare = of_conv<make_handle>,
    .launch = of_conv<launch_cublas_gemm>,
    .absent = absent,
}};

}  // namespace
}  // namespace convlab
