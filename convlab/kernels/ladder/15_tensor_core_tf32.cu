// Multiplies an implicit GEMM on tensor cores in TF32 (rung 15).

#include "convlab/kernels/ladder/tensor_core_tile.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.tensor_core_tf32",
    .device = kCompiledFor,
    .math = Math::tf32,
    .rung = 15,
    .idea = "implicit matrix multiply on tensor cores in TF32",
    .after = "cuda.register_tile",
    .threads = "8 warps compute 896 output pixels of up to 24 output channels; see tensor_core_tile.cuh.",
    .cost =
        "2 * C * R * S flops at the rate of tensor cores; operands are rounded to a 10-bit mantissa, sums are fp32.",
    .refuses =
        "Fused epilogues, uint8 input, groups, compute capability below 8.0, and pixels that exceed shared memory.",
    .limit =
        "Staging, which waits for memory and takes as many instructions as the products, and shared memory: 4 loads "
        "for three products of 8 output channels.",
};

struct Tf32 {
  static constexpr int kTilesAtOnce = kTilesOfWarp;
  static constexpr bool kRanged = false;
  static constexpr int kGroup = 2, kWords = 2;
  struct alignas(8) B {
    uint32_t terms[2];
  };

  static __device__ uint32_t stage(int word, const float (&value)[2]) { return to_tf32(value[word]); }
  static __device__ B pack(const float (&weight)[2]) { return {to_tf32(weight[0]), to_tf32(weight[1])}; }

  template <int kColumns>
  static __device__ void multiply(float (&sum)[kColumns][4], const uint32_t (&words)[2][2], const B (&b)[kColumns]) {
    const uint32_t a[4] = {words[0][0], words[1][0], words[0][1], words[1][1]};
#pragma unroll
    for (int column = 0; column < kColumns; ++column) mma_tf32(sum[column], a, b[column].terms, sum[column]);
  }
};

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses_tensor_core<Tf32>>,
    .launch = of_conv<launch_tensor_core<Tf32>>,
}};

}  // namespace
}  // namespace convlab
