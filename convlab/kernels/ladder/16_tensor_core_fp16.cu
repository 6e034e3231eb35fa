// Multiplies an implicit GEMM on tensor cores in fp16, summed in fp32 (rung 16).

#include "convlab/kernels/ladder/tensor_core_tile.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.tensor_core_fp16",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = 16,
    .idea = "the same in fp16, summed in fp32",
    .after = "cuda.tensor_core_tf32",
    .threads = "8 warps compute 896 output pixels of up to 24 output channels; see tensor_core_tile.cuh.",
    .cost =
        "2 * C * R * S flops at twice the rate of TF32. fp16 has the mantissa of TF32, but not its range: pixels or "
        "weights above 65504 become infinite, and those below 6e-8 become zero.",
    .refuses =
        "Fused epilogues, uint8 input, groups, compute capability below 8.0, and pixels that exceed shared memory.",
    .limit = "Staging, which waits for memory and takes as many instructions as the products.",
};

struct Fp16 {
  static constexpr int kTilesAtOnce = kTilesOfWarp;
  static constexpr bool kRanged = false;
  static constexpr int kGroup = 4, kWords = 2;  // two fp16 values per word
  struct alignas(8) B {
    uint32_t terms[2];
  };

  static __device__ uint32_t stage(int word, const float (&value)[4]) {
    const __half2 pair = __floats2half2_rn(value[2 * word], value[2 * word + 1]);
    return __half_as_ushort(__low2half(pair)) | uint32_t{__half_as_ushort(__high2half(pair))} << 16;
  }
  static __device__ B pack(const float (&weight)[4]) { return {stage(0, weight), stage(1, weight)}; }

  template <int kColumns>
  static __device__ void multiply(float (&sum)[kColumns][4], const uint32_t (&words)[2][2], const B (&b)[kColumns]) {
    const uint32_t a[4] = {words[0][0], words[1][0], words[0][1], words[1][1]};
#pragma unroll
    for (int column = 0; column < kColumns; ++column) mma_fp16(sum[column], a, b[column].terms, sum[column]);
  }
};

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses_tensor_core<Fp16>>,
    .launch = of_conv<launch_tensor_core<Fp16>>,
}};

}  // namespace
}  // namespace convlab
