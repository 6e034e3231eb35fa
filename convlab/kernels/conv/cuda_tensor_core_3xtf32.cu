// cuda.tensor_core_3xtf32: operands split in two TF32 parts, three products: fp32-class accuracy from tensor cores.
// Threads: 8 warps make a band of output rows of up to 24 maps; tensor_core_tile.cuh draws the picture.
// Per output: 6 * terms() flops: with x = X + x' and w = W + w', X and W rounded to TF32 and x', w' what that lost,
// also
//   in TF32, the sum is of W X + (W x' + w' X); w' x' is below 2^-22 of the product and left out (the idea of Ootomo
//   and Yokota, "Recovering single precision accuracy from Tensor Cores", 2022). The small products have sums of their
//   own.
// Refuses: epilogues, images of bytes, groups, GPUs before compute capability 8.0, bands beyond shared memory.
// Limited now by tensor cores, three products for one. An infinite pixel gives NaN: it has no finite remainder.

#include "convlab/kernels/conv/tensor_core_tile.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

struct Split {
  uint32_t large, small;
};

__device__ Split split(float value) {
  const uint32_t large = to_tf32(value);
  return {large, to_tf32(value - __uint_as_float(large))};
}

struct ThreeTf32 {
  using Pixel = float;  // split when multiplied: shared memory holds one word, not two
  static constexpr int kTerms = 8, kHeld = 2;
  struct alignas(16) B {
    uint32_t large[2], small[2];
  };

  static __device__ int term(int t, int held) { return t + 4 * held; }
  static __device__ Pixel stage(float value) { return value; }
  static __device__ B pack(const float (&weight)[2]) {
    const Split first = split(weight[0]), second = split(weight[1]);
    return {{first.large, second.large}, {first.small, second.small}};
  }

  template <int kColumns>
  static __device__ void multiply(float (&sum)[kColumns][4], const Pixel (&value)[2][2], const B (&b)[kColumns]) {
    const Split s[4] = {split(value[0][0]), split(value[1][0]), split(value[0][1]), split(value[1][1])};
    const uint32_t large[4] = {s[0].large, s[1].large, s[2].large, s[3].large};
    const uint32_t small[4] = {s[0].small, s[1].small, s[2].small, s[3].small};
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
      float little[4] = {};
      mma_tf32(little, large, b[column].small);
      mma_tf32(little, small, b[column].large);
      mma_tf32(little, large, b[column].large);
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[column][i] += little[i];
    }
  }
};

const RegisterConvKernel registered{{
    .info = {.name = "cuda.tensor_core_3xtf32",
             .device = kCompiledFor,
             .math = Math::fp32,
             .repeat = Repeat::bitwise,
             .sum = Sum::split,
             .rung = 17,
             .idea = "operands split in two: fp32-class accuracy from tensor cores",
             .after = "cuda.tensor_core_tf32"},
    .refuses = refuses_tensor_core<ThreeTf32>,
    .launch = launch_tensor_core<ThreeTf32>,
}};

}  // namespace
}  // namespace convlab
